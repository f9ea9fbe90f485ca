# Looks for what the CUDA backend is built with: nvcc, the headers of cuBLASLt, of cuDNN 9, and cudnn-frontend's. Included
# by the top folder, so that every target knows the language. Sets cuda_found, and cuda_missing, why not.
#
# The usual places: the PATH, $CUDACXX, $CUDA_HOME, /usr/local/cuda, /opt/cuda, and Python's nvidia/* wheels, in the
# environment that is active or in the folder that installer/cuda_wheels.sh fills.

# The site-packages of Pythons that may hold wheels.
function(cuda_python_folders result)
  set(data "$ENV{XDG_DATA_HOME}")
  if(NOT data)
    set(data "$ENV{HOME}/.local/share")
  endif()
  file(GLOB folders "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages" "$ENV{CONDA_PREFIX}/lib/python3*/site-packages"
       "${data}/halftone/cuda/lib/python3*/site-packages")
  find_program(HALFTONE_PYTHON python3)
  if(HALFTONE_PYTHON)
    execute_process(COMMAND ${HALFTONE_PYTHON} -c
                    "import sys; print(';'.join(p for p in sys.path if p.endswith('-packages')), end='')"
                    OUTPUT_VARIABLE python_path ERROR_QUIET)
    list(APPEND folders ${python_path})
  endif()
  list(REMOVE_DUPLICATES folders)
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

macro(cuda_look)
  cuda_python_folders(cuda_python)
  set(cuda_roots)
  foreach(folder IN LISTS cuda_python)
    file(GLOB wheel_roots "${folder}/nvidia/cu1[3-9]" "${folder}/nvidia/cuda_nvcc")
    list(APPEND cuda_roots ${wheel_roots})
  endforeach()
  list(PREPEND cuda_roots "$ENV{CUDA_HOME}" /usr/local/cuda /opt/cuda)
  list(REMOVE_ITEM cuda_roots "")
  list(REMOVE_DUPLICATES cuda_roots)
  list(JOIN cuda_roots ", " cuda_searched)
  set(cuda_searched "PATH, CUDACXX, ${cuda_searched}")

  find_program(HALFTONE_NVCC nvcc HINTS ENV CUDACXX PATHS ${cuda_roots} PATH_SUFFIXES bin)
  if(CMAKE_CUDA_COMPILER)
    set(HALFTONE_NVCC ${CMAKE_CUDA_COMPILER})
  elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
    set(HALFTONE_NVCC $ENV{CUDACXX})
  endif()
  get_filename_component(cuda_root "${HALFTONE_NVCC}" REALPATH)
  get_filename_component(cuda_root "${cuda_root}" DIRECTORY)
  get_filename_component(cuda_root "${cuda_root}" DIRECTORY)

  # Beside the compiler, or in a wheel of its own.
  find_path(CUBLAS_LT_INCLUDE_DIR cublasLt.h HINTS ${cuda_root}/include PATHS ${cuda_python} ${cuda_roots}
            PATH_SUFFIXES nvidia/cu13/include nvidia/cublas/include include)
  find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${cuda_root}/include
            PATHS ${cuda_roots} ${cuda_python} PATH_SUFFIXES include nvidia/cudnn/include)
  find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h
            HINTS ${PROJECT_SOURCE_DIR}/build/cudnn-frontend/include ${cuda_root}/include PATHS ${cuda_python}
            PATH_SUFFIXES include)
  # Neither is required: the build goes without the check of our declarations.
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${cuda_root}/include
            PATHS ${cuda_roots} ${cuda_python} PATH_SUFFIXES include nvidia/nccl/include)
  find_path(NVJPEG_INCLUDE_DIR nvjpeg.h HINTS ${cuda_root}/include
            PATHS ${cuda_roots} ${cuda_python} PATH_SUFFIXES include nvidia/cu13/include nvidia/nvjpeg/include)

  set(cuda_missing)
  if(NOT HALFTONE_NVCC)
    set(cuda_missing "no CUDA compiler (nvcc; looked in ${cuda_searched})")
  elseif(NOT CUBLAS_LT_INCLUDE_DIR)
    set(cuda_missing "${HALFTONE_NVCC} is here, but the headers of cuBLASLt are not (cublasLt.h; looked in \
${cuda_root}/include and in Python's nvidia/cu13/include and nvidia/cublas/include; set CUBLAS_LT_INCLUDE_DIR)")
  elseif(NOT CUDNN_INCLUDE_DIR)
    set(cuda_missing "${HALFTONE_NVCC} is here, but the headers of cuDNN 9 are not (cudnn_graph.h; looked in \
${cuda_root}/include and in Python's nvidia/cudnn/include; set CUDNN_INCLUDE_DIR)")
  elseif(NOT CUDNN_FRONTEND_INCLUDE_DIR)
    set(cuda_missing "${HALFTONE_NVCC} is here, but the headers of cudnn-frontend are not (cudnn_frontend.h; \
installer/cudnn_frontend.sh fetches them)")
  endif()
  if(cuda_missing)
    set(cuda_found OFF)
  else()
    set(cuda_found ON)
  endif()
endmacro()

# Default architectures: in a release all that Halftone supports, for packages, with PTX of the last for later cards; else
# one, to build fast. installer/run.sh passes those of the machine's cards.
macro(cuda_choose_architectures)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
  endif()
endmacro()

macro(cuda_enable)
  set(CMAKE_CUDA_COMPILER ${HALFTONE_NVCC})
  cuda_choose_architectures()
  if(HALFTONE_CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${HALFTONE_CCACHE})
  endif()
  # Assertions stay, as in the C++ half; the device's code keeps its line numbers for the sanitizer. The preset of test.sh has
  # none, and -O1, which is of the host's half alone.
  set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O2 -Xcompiler=-g1 -lineinfo" CACHE STRING "nvcc in RelWithDebInfo")
  set(CMAKE_CUDA_VISIBILITY_PRESET ${halftone_visibility})
  enable_language(CUDA)
  # CUDA sources take the C++ standard of the project, 20, of which CMake 3.25.1 does not know that nvcc speaks it.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  # Linked by name where it is used, since Python's wheels lie where CMake's own -lcudart_static does not find it.
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)
  # The module of CMake 3.25.1 (Debian 12) deprecates CUDA::nvToolsExt without asking whether the toolkit has it; CUDA 13 has not.
  # It does so for projects that require 3.25 or later.
  set(required_cmake ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit 12.4 REQUIRED)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${required_cmake})
  if(NOT TARGET CUDA::cudart_static)
    message(FATAL_ERROR "CUDA in ${cuda_root} has no libcudart_static.a; set HALFTONE_CUDA=OFF to build without it")
  endif()
endmacro()

set(cuda_found OFF)
if(NOT HALFTONE_CUDA)
  message(STATUS "CUDA: switched off")
else()
  cuda_look()
  if(cuda_found)
    cuda_enable()
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    # A toolkit that lacks something is worth a warning; a machine without one is not.
    if(HALFTONE_CUDA STREQUAL "REQUIRED")
      message(FATAL_ERROR "CUDA: ${cuda_missing}")
    elseif(HALFTONE_NVCC)
      message(WARNING "CUDA: building without it: ${cuda_missing}")
    else()
      message(STATUS "CUDA: building without it: ${cuda_missing}")
    endif()
  endif()
endif()
