# The CUDA toolkit, which is not of Debian: only the preset cuda asks for it.
#
# The runtime is linked statically, cuBLASLt (500 MB) is not. Programs may be carried to a machine
# with a GPU: libraries beside them are found first, then those of the toolkit.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90) # Hopper
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
# CMake before 3.26 does not know that nvcc takes C++20.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
set(CMAKE_BUILD_RPATH $ORIGIN ${CUDAToolkit_TARGET_DIR}/lib64)
