# The lessons of the program, as text within it. Included where the target is made: only there can its sources be generated.
set(lessons ${PROJECT_SOURCE_DIR}/resources/lessons)
set(embed_texts ${CMAKE_CURRENT_SOURCE_DIR}/src/base/embed_texts.cmake)
set(builtin_lessons ${CMAKE_CURRENT_BINARY_DIR}/builtin_lessons.cpp)
file(GLOB lesson_files CONFIGURE_DEPENDS ${lessons}/*.lesson.md)
add_custom_command(OUTPUT ${builtin_lessons}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${lessons} -DPATTERN=*.lesson.md -DOUT=${builtin_lessons} -DHEADER=lab/lesson_text.h
          -DTYPE=BuiltinLesson -DFUNCTION=builtin_lesson_texts -P ${embed_texts}
  DEPENDS ${lesson_files} ${embed_texts} VERBATIM)
target_sources(engine PRIVATE ${builtin_lessons})
