# halftone_discover_suites(TARGET PREFIX FILTER ENVIRONMENT): after TARGET is linked, its cases (those of FILTER, if
# given) are listed and written to a file that ctest reads: for each suite a test PREFIX + Suite, and for
# `ctest -C case` each case, PREFIX + Suite.Case.
function(halftone_discover_suites target prefix filter environment)
  # A program for another processor cannot list its cases here (installer/aarch64.sh runs whole programs).
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(RELATIVE_PATH label ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(writer ${PROJECT_SOURCE_DIR}/tests/write_suites.cmake)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${writer})
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${list}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${target}> -D LIST=${list} -D PREFIX=${prefix} -D FILTER=${filter}
            -D ENVIRONMENT=${environment} -D LABELS=${label}:${target} -D TIMEOUT=${HALFTONE_TEST_TIMEOUT}
            -P ${writer}
    VERBATIM)
  # Before the first build there is no list: ctest then says which program is missing.
  file(WRITE ${list}.include
    "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list}.include)
endfunction()
