# dropped_store_options: what keeps the C++ compiler from dropping stores that a called function reads. Empty for a compiler
# without the fault.
#
# GCC 12, 13 and 14 record too little of what a function does with memory that it reaches through a closure passed by value
# (-fipa-modref, part of -O1; compare GCC's bugs 115033 and 115135). dropped_stores.cpp has two shapes: one is compiled
# wrongly by 12.2, the other by 13.3 and 14.2. A release may have shapes that the program does not have, so a release on the
# list gets the option without a test. Other compilers get it if the program fails without it.
set(dropped_store_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    set(dropped_store_options -fno-ipa-modref)
  endif()
endif()

# The exit code of dropped_stores.cpp, compiled with the given options; empty if it cannot be compiled.
function(dropped_stores_exit_code out)
  try_run(dropped_stores_ran dropped_stores_compiled ${PROJECT_BINARY_DIR}/dropped_stores ${PROJECT_SOURCE_DIR}/installer/dropped_stores.cpp
          CMAKE_FLAGS -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_STANDARD_REQUIRED=ON -DCMAKE_CXX_EXTENSIONS=OFF
                      -DCMAKE_POSITION_INDEPENDENT_CODE=ON
          COMPILE_DEFINITIONS ${ARGN})
  if(dropped_stores_compiled)
    set(${out} "${dropped_stores_ran}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
  # try_run answers from the cache where it has these.
  unset(dropped_stores_ran CACHE)
  unset(dropped_stores_compiled CACHE)
endfunction()

# Runs once for a compiler and its options: the answer is in the cache.
set(dropped_stores_key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${dropped_store_options}")
if(NOT CMAKE_CROSSCOMPILING AND NOT HALFTONE_DROPPED_STORES_KEY STREQUAL dropped_stores_key)
  set(dropped_stores_found "")
  foreach(level -O1 -O2 -O3)
    dropped_stores_exit_code(code ${level} ${dropped_store_options})
    if(NOT code STREQUAL "0" AND NOT dropped_store_options)
      set(dropped_stores_found -fno-ipa-modref)
      dropped_stores_exit_code(code ${level} -fno-ipa-modref)
    endif()
    if(code STREQUAL "")
      message(FATAL_ERROR "installer/dropped_stores.cpp cannot be compiled with ${level} ${dropped_store_options}")
    elseif(NOT code STREQUAL "0")
      message(FATAL_ERROR "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} compiles installer/dropped_stores.cpp "
              "wrongly with ${level}: it would build a program that crashes or computes wrong results. "
              "Use another compiler: GCC 12 to 14, or clang.")
    endif()
  endforeach()
  set(HALFTONE_DROPPED_STORES_FOUND "${dropped_stores_found}" CACHE INTERNAL "What the program showed to be needed")
  set(HALFTONE_DROPPED_STORES_KEY "${dropped_stores_key}" CACHE INTERNAL "The compiler that it was compiled with")
endif()
if(NOT dropped_store_options)
  set(dropped_store_options ${HALFTONE_DROPPED_STORES_FOUND})
endif()
