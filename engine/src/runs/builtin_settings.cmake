# Settings that come with the program, as text within it. Included where the target is made: only there can its sources be
# generated.
set(settings ${PROJECT_SOURCE_DIR}/resources/settings)
set(embed_texts ${CMAKE_CURRENT_SOURCE_DIR}/src/base/embed_texts.cmake)
set(builtin_settings ${CMAKE_CURRENT_BINARY_DIR}/builtin_settings.cpp)
file(GLOB settings_files CONFIGURE_DEPENDS ${settings}/*.json)
add_custom_command(OUTPUT ${builtin_settings}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${settings} -DPATTERN=*.json -DOUT=${builtin_settings} -DHEADER=runs/builtin_settings.h
          -DTYPE=BuiltinSettings -DFUNCTION=builtin_settings_texts -P ${embed_texts}
  DEPENDS ${settings_files} ${embed_texts} VERBATIM)
target_sources(engine PRIVATE ${builtin_settings})
