# cmake -D PROGRAM= -D LIST= -D PREFIX= -D FILTER= -D ENVIRONMENT= -D LABELS= -D TIMEOUT= -P write_suites.cmake: see
# discover_suites.cmake.
if(NOT FILTER)
  set(FILTER *)
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env QT_QPA_PLATFORM=offscreen ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER}
  OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${status}")
endif()
string(REPLACE ":" ";" labels "${LABELS}")
string(REPLACE ";" "\\;" listed "${listed}")
string(REPLACE "[" "\\[" listed "${listed}")
string(REPLACE "]" "\\]" listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")

# Appends to `list` a test NAME of the cases that FILTER takes.
function(add list name filter)
  set(test "[==[${PREFIX}${name}]==]")
  # End of GoogleTest's output where each case of the filter was skipped and none failed.
  set(all_skipped [==["\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+$"]==])
  set(text "  add_test(${test} [==[${PROGRAM}]==] [==[--gtest_filter=${filter}]==])\n")
  string(APPEND text "  set_tests_properties(${test} PROPERTIES TIMEOUT ${TIMEOUT} LABELS \"${labels}\""
         " SKIP_REGULAR_EXPRESSION ${all_skipped} ENVIRONMENT [==[${ENVIRONMENT}]==])\n")
  set(${list} "${${list}}${text}" PARENT_SCOPE)
endfunction()

foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.( +#.*)?$")
    set(suite "${CMAKE_MATCH_1}")
    add(suites "${suite}" "${suite}.*")
  elseif(line MATCHES "^  ([^ ]+)( +#.*)?$")
    add(cases "${suite}.${CMAKE_MATCH_1}" "${suite}.${CMAKE_MATCH_1}")
    string(APPEND names "${suite}.${CMAKE_MATCH_1}\n")
  endif()
endforeach()
# A suite that was renamed would else be gone unseen.
string(REPLACE ":" ";" patterns "${FILTER}")
foreach(pattern IN LISTS patterns)
  string(REPLACE "." "\\." regex "${pattern}")
  string(REPLACE "*" ".*" regex "${regex}")
  if(NOT "${names}" MATCHES "(^|\n)${regex}\n")
    message(FATAL_ERROR "${PROGRAM}: no test matches ${pattern}")
  endif()
endforeach()
file(WRITE ${LIST} "if(CTEST_CONFIGURATION_TYPE STREQUAL \"case\")\n${cases}else()\n${suites}endif()\n")
