# cmake -DGIT=PROGRAM -DSOURCE=FOLDER -DOUTPUT=FILE -P commit.cmake: writes FILE with the commit of the checkout in FOLDER, or
# with an empty one if FOLDER is not the top of a checkout: sources unpacked inside another project are not at its commit.
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
    OUTPUT_VARIABLE found RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0 AND found MATCHES "^\n([0-9a-f]+)\n$")
    set(commit ${CMAKE_MATCH_1})
  endif()
endif()
file(WRITE ${OUTPUT} "#define HALFTONE_COMMIT \"${commit}\"\n")
