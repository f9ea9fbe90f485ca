# cmake -D HEADERS=FOLDER -D HAND_WRITTEN=FILE -D FOLDER=FOLDER -P generate.cmake
#
# Writes FOLDER/absent_kernels.cpp, which defines every cuda:: kernel that the public headers declare (kernels/kernel.h)
# as a function that throws, and FOLDER/kernel_list.h, the list of those kernels. A declaration that it cannot parse is
# an error. So is a header that opens namespace cuda itself but is not included by HAND_WRITTEN, which defines the rest.
cmake_minimum_required(VERSION 3.25)

# The signature behind `type` in `text`, following aliases of aliases: void(Array y, Stream stream).
function(find_signature type text result)
  while(type MATCHES "^[A-Za-z0-9_]+$")
    if(NOT text MATCHES "using ${type} = ([^;]+);")
      message(FATAL_ERROR "${header}: no `using ${type} = ...;` here")
    endif()
    set(type "${CMAKE_MATCH_1}")
  endwhile()
  if(NOT type MATCHES "^[^()]+\\([^()]*\\)$")
    message(FATAL_ERROR "${header}: not a function type: ${type}")
  endif()
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

# `text` with the macro HALFTONE_UPDATE(Name, name), where it defines one, written out for each optimizer of updates.inc.
function(expand_updates text result)
  string(REGEX REPLACE "\\\\\n" "\n" joined "${text}")
  if(joined MATCHES "#define HALFTONE_UPDATE\\(Name, name\\)([^#]*(##[^#]*)*)#include \"kernels/updates.inc\"")
    set(body "${CMAKE_MATCH_1}")
    string(REPLACE "${CMAKE_MATCH_0}" "@updates@" text "${joined}")
    set(written "")
    file(STRINGS ${HEADERS}/updates.inc parts REGEX "^#include")
    foreach(part IN LISTS parts)
      string(REGEX MATCH "updates/[a-z_0-9]+[.]inc" file "${part}")
      file(STRINGS ${HEADERS}/${file} name REGEX "^HALFTONE_UPDATE\\(")
      string(REGEX MATCH "\\(([A-Za-z0-9]+), ([a-z0-9_]+)\\)" ignored "${name}")
      set(lower "${CMAKE_MATCH_2}")
      string(REGEX REPLACE "##Name|Name##" "${CMAKE_MATCH_1}" one "${body}")
      string(REGEX REPLACE "##name|name##" "${lower}" one "${one}")
      string(APPEND written "${one}")
    endforeach()
    string(REPLACE "@updates@" "${written}" text "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(GLOB headers ${HEADERS}/*.h)
file(READ ${HAND_WRITTEN} hand_written)
set(includes "")
set(list "")
set(definitions "")
foreach(header IN LISTS headers)
  get_filename_component(name ${header} NAME)
  if(name STREQUAL "kernel.h")
    continue()
  endif()
  file(READ ${header} text)
  expand_updates("${text}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${hand_written}" "#include \"kernels/${name}\"" included)
  if(text MATCHES "namespace (kernels::)?cuda " AND included EQUAL -1)
    message(FATAL_ERROR "${header}: opens namespace cuda. Declare kernels with HALFTONE_KERNEL (kernels/kernel.h); "
                        "define any other function in ${HAND_WRITTEN}, which does not include this header")
  endif()

  string(REGEX MATCHALL "HALFTONE_(CUDA_)?KERNEL" uses "${text}")
  string(REGEX MATCHALL "HALFTONE_(CUDA_)?KERNEL\\([A-Za-z0-9_]+, [a-z0-9_]+\\)" kernels "${text}")
  list(LENGTH uses used)
  list(LENGTH kernels understood)
  if(NOT used EQUAL understood)
    message(FATAL_ERROR "${header}: ${understood} of ${used} kernels are declared as HALFTONE_KERNEL(Type, name)")
  endif()
  if(kernels)
    string(APPEND includes "#include \"kernels/${name}\"\n")
  endif()
  foreach(kernel IN LISTS kernels)
    string(REGEX MATCH "\\((.+), (.+)\\)" parts "${kernel}")
    set(name ${CMAKE_MATCH_2})
    find_signature("${CMAKE_MATCH_1}" "${text}" signature)
    string(REPLACE "(" " cuda::${name}(" function "${signature}")
    string(APPEND list " \\\n    EACH(${name})")
    string(APPEND definitions "${function} { absent(\"${name}\"); }\n")
  endforeach()
endforeach()

set(origin "// Generated from kernels/include/kernels by kernels/cuda_absent/generate.cmake.\n")
file(WRITE ${FOLDER}/kernel_list.h "${origin}#pragma once

${includes}
#define HALFTONE_EACH_CUDA_KERNEL(EACH)${list}
")
# A qualified name can only define what its header has declared: anything else does not compile.
file(WRITE ${FOLDER}/absent_kernels.cpp "${origin}#include \"cuda_absent/kernel_list.h\"

#include \"cuda_absent/absent.h\"

#pragma GCC diagnostic ignored \"-Wunused-parameter\"

namespace kernels {

${definitions}
}  // namespace kernels
")
