# Everything the library needs, all of it from Debian packages. Each failure says what to install.

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for to cache files with a precompiled header; the other two let every checkout of
  # the tree use one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

find_package(xtensor REQUIRED)
find_package(xtensor-blas REQUIRED)
find_package(doctest REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
  message(FATAL_ERROR "Random123/philox.h was not found: install librandom123-dev")
endif()

# What draws the charts of the report; it is put into the program.
find_file(XTAPE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
if(NOT XTAPE_CHART_JS)
  message(FATAL_ERROR "chart.min.js was not found in /usr/share/javascript/chart.js: install libjs-chart.js")
endif()

# OpenBLAS itself, never whatever libblas.so happens to be: the reference BLAS is 20 times slower. Its own CMake package
# names a library that does not exist on Debian 13.
find_library(OpenBLAS_LIBRARIES openblas)
find_path(OpenBLAS_INCLUDE_DIRS cblas.h PATH_SUFFIXES openblas-pthread openblas-openmp openblas-serial openblas)
if(NOT OpenBLAS_LIBRARIES OR NOT OpenBLAS_INCLUDE_DIRS)
  message(FATAL_ERROR "OpenBLAS was not found (the reference BLAS is 20 times slower and not accepted): install libopenblas-dev")
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${OpenBLAS_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES ${OpenBLAS_LIBRARIES})
check_cxx_source_compiles("
  #include <cblas.h>
  int main() {
    float a = 1, c = 0;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &a, 1, &a, 1, 0, &c, 1);
    openblas_set_num_threads(1);
    return c != 1;
  }" XTAPE_HAS_OPENBLAS_CBLAS)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT XTAPE_HAS_OPENBLAS_CBLAS)
  message(FATAL_ERROR "${OpenBLAS_LIBRARIES} has no CBLAS interface, or is not OpenBLAS: install libopenblas-dev")
endif()

# oneDNN is one more library that products can go to, where it is installed. (Its own CMake files ask for OpenCL.)
find_path(XTAPE_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(XTAPE_ONEDNN_LIBRARY dnnl)
if(XTAPE_ONEDNN_INCLUDE_DIR AND XTAPE_ONEDNN_LIBRARY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(XTAPE_HAS_ONEDNN ON)
else()
  set(XTAPE_HAS_ONEDNN OFF)
endif()
