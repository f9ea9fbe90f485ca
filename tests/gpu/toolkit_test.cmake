# cmake -D SOURCE=FOLDER -D FOLDER=FOLDER -P toolkit_test.cmake: where kernels/cuda/toolkit.cmake finds the headers that the
# CUDA backend is built with, in a made-up machine below FOLDER.
cmake_minimum_required(VERSION 3.25)

set(packages ${FOLDER}/venv/lib/python3.12/site-packages)
set(PROJECT_SOURCE_DIR ${FOLDER}/project)
# This machine's own are not to be found.
set(ENV{PATH} /usr/bin:/bin)
set(ENV{CUDA_HOME} "")
set(ENV{CONDA_PREFIX} "")
set(ENV{XDG_DATA_HOME} ${FOLDER}/data)
set(ENV{VIRTUAL_ENV} ${FOLDER}/venv)
set(ENV{CUDACXX} ${FOLDER}/cuda/bin/nvcc)
set(CMAKE_IGNORE_PATH /usr/local/cuda/include /opt/cuda/include)

if(NOT HALFTONE_CUDA)
  set(HALFTONE_CUDA OFF)
endif()
if(HALFTONE_CUDA STREQUAL "REQUIRED")
  include(${SOURCE}/kernels/cuda/toolkit.cmake)  # ends here, or says nothing
  return()
endif()
include(${SOURCE}/kernels/cuda/toolkit.cmake)

function(make_machine)
  file(REMOVE_RECURSE ${FOLDER})
  foreach(file IN ITEMS cuda/bin/nvcc ${ARGN})
    file(WRITE ${FOLDER}/${file} "")
  endforeach()
endfunction()

# expect(FOLDER FILE...): cublasLt.h is found in FOLDER, on a machine with these files; "": it is missed.
function(expect folder)
  make_machine(${ARGN} venv/lib/python3.12/site-packages/nvidia/cudnn/include/cudnn_graph.h
               project/build/cudnn-frontend/include/cudnn_frontend.h)
  foreach(found IN ITEMS HALFTONE_NVCC CUBLAS_LT_INCLUDE_DIR CUDNN_INCLUDE_DIR CUDNN_FRONTEND_INCLUDE_DIR)
    unset(${found} CACHE)
  endforeach()
  cuda_look()
  if(folder)
    if(NOT CUBLAS_LT_INCLUDE_DIR STREQUAL folder OR NOT cuda_found)
      message(SEND_ERROR "${ARGN}: found ${CUBLAS_LT_INCLUDE_DIR} and not ${folder}; ${cuda_missing}")
    endif()
  elseif(cuda_found OR NOT cuda_missing MATCHES "headers of cuBLASLt are not")
    message(SEND_ERROR "${ARGN}: nothing is missing? ${CUBLAS_LT_INCLUDE_DIR} ${cuda_missing}")
  endif()
endfunction()

set(wheel venv/lib/python3.12/site-packages/nvidia)
expect(${packages}/nvidia/cublas/include ${wheel}/cublas/include/cublasLt.h)
expect(${packages}/nvidia/cu13/include ${wheel}/cu13/include/cublasLt.h)
expect(${FOLDER}/cuda/include cuda/include/cublasLt.h ${wheel}/cublas/include/cublasLt.h)
expect("")

# Where CUDA has to be there, its want ends the configuration.
execute_process(COMMAND ${CMAKE_COMMAND} -D HALFTONE_CUDA=REQUIRED -D SOURCE=${SOURCE} -D FOLDER=${FOLDER} -P
                ${CMAKE_CURRENT_LIST_FILE} RESULT_VARIABLE code ERROR_VARIABLE words)
string(REGEX REPLACE "[ \n]+" " " words "${words}")
if(code EQUAL 0 OR NOT words MATCHES "CUDA: .*headers of cuBLASLt are not")
  message(SEND_ERROR "HALFTONE_CUDA=REQUIRED: code ${code}, ${words}")
endif()
