# embed_texts(FOLDER PATTERN HEADER TYPE FUNCTION): files of resources/FOLDER as text within the program (embed_texts.cmake).
# Called where the target is made: only there can its sources be generated.
function(embed_texts folder pattern header type function)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/src/base/embed_texts.cmake)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/builtin_${folder}.cpp)
  set(resources ${PROJECT_SOURCE_DIR}/resources/${folder})
  file(GLOB files CONFIGURE_DEPENDS ${resources}/${pattern})
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${resources} -DPATTERN=${pattern} -DOUT=${source} -DHEADER=${header} -DTYPE=${type}
            -DFUNCTION=${function} -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  target_sources(engine PRIVATE ${source})
endfunction()
