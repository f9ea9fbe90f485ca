# The lessons of the program, as text within it. Included where the target is made: only there can its sources be generated.
set(lessons ${PROJECT_SOURCE_DIR}/resources/lessons)
set(embed_lessons ${CMAKE_CURRENT_SOURCE_DIR}/src/lab/embed_lessons.cmake)
set(builtin_lessons ${CMAKE_CURRENT_BINARY_DIR}/builtin_lessons.cpp)
file(GLOB lesson_files CONFIGURE_DEPENDS ${lessons}/*.lesson.md)
add_custom_command(OUTPUT ${builtin_lessons}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${lessons} -DOUT=${builtin_lessons} -P ${embed_lessons}
  DEPENDS ${lesson_files} ${embed_lessons} VERBATIM)
target_sources(engine PRIVATE ${builtin_lessons})
