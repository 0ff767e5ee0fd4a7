# The library: xtape_base (nothing that depends on the scalar type), and xtape_f32 and xtape_f64, one for each dtype.

# All includes read <xtape/module/file.hpp>: an include folder that maps to the modules.
set(XTAPE_INCLUDE ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${XTAPE_INCLUDE}/xtape)
foreach(module core nn optim models data inspect train)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${module})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${module} ${XTAPE_INCLUDE}/xtape/${module} SYMBOLIC)
  endif()
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/xtape.hpp ${XTAPE_INCLUDE}/xtape/xtape.hpp SYMBOLIC)

add_library(xtape_options INTERFACE)
target_compile_options(xtape_options INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${XTAPE_WERROR}>:-Werror>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>  # GCC's ivdep
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)  # GCC 12 sees faults in std::string + "text"
if(XTAPE_SANITIZE)
  # GCC's analysis of uninitialized values and of strings misfires on instrumented code.
  target_compile_options(xtape_options INTERFACE -fsanitize=${XTAPE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-stringop-overflow>)
  target_link_options(xtape_options INTERFACE -fsanitize=${XTAPE_SANITIZE})
endif()

# Sources of data, inspect and train that depend on the scalar type. The structure test compares this list with the
# sources.
set(XTAPE_DTYPE_SOURCES data/image_baselines.cpp inspect/log/anomaly.cpp inspect/log/gradient_history.cpp inspect/log/run_log.cpp inspect/log/step_probe.cpp
    inspect/measure/gradcheck.cpp inspect/measure/jacobian.cpp inspect/measure/update_split.cpp
    train/checkpoints.cpp train/trained_weights.cpp train/weights_file.cpp)

# What does not depend on the scalar type.
file(GLOB XTAPE_BASE_SOURCES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/data/*.cpp
     ${PROJECT_SOURCE_DIR}/inspect/run/*.cpp ${PROJECT_SOURCE_DIR}/inspect/verdicts/*.cpp
     ${PROJECT_SOURCE_DIR}/inspect/log/*.cpp ${PROJECT_SOURCE_DIR}/inspect/report/*.cpp
     ${PROJECT_SOURCE_DIR}/train/*.cpp)
list(REMOVE_ITEM XTAPE_BASE_SOURCES ${XTAPE_DTYPE_SOURCES})
list(APPEND XTAPE_BASE_SOURCES core/error.cpp core/pool.cpp core/random.cpp core/shape.cpp core/nearest_name.cpp
     core/number_text.cpp core/threads.cpp optim/schedule.cpp)

# The page of the report: its own files and Chart.js as strings in one C++ file.
include(${PROJECT_SOURCE_DIR}/inspect/report/page_texts.cmake)
list(APPEND XTAPE_BASE_SOURCES ${XTAPE_PAGE_TEXTS})
if(XTAPE_FUZZ)  # the readers are what is tried of it
  list(FILTER XTAPE_BASE_SOURCES INCLUDE REGEX
       "^core/|^data/(csv|durable_file|files|gzip|idx|json|npy|safetensors|stored_tensor|utf8)\\.|^inspect/run/|^inspect/verdicts/|^inspect/log/log_state\\.|^inspect/report/text_page|^train/checkpoint_record")
endif()

# What does. Kernel files in isa/ are compiled once per instruction set.
file(GLOB XTAPE_SOURCES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/core/*.cpp ${PROJECT_SOURCE_DIR}/core/ops/*.cpp ${PROJECT_SOURCE_DIR}/core/ops/internal/*.cpp
     ${PROJECT_SOURCE_DIR}/core/kernels/*.cpp ${PROJECT_SOURCE_DIR}/nn/*.cpp ${PROJECT_SOURCE_DIR}/optim/*.cpp
     ${PROJECT_SOURCE_DIR}/models/*.cpp)
list(APPEND XTAPE_SOURCES ${XTAPE_DTYPE_SOURCES})
list(REMOVE_ITEM XTAPE_SOURCES ${XTAPE_BASE_SOURCES})
if(XTAPE_FUZZ)
  list(FILTER XTAPE_SOURCES INCLUDE REGEX "^core/")  # the ops are what is tried of it
  list(FILTER XTAPE_SOURCES EXCLUDE REGEX "^core/kernels/qr")
endif()
file(GLOB XTAPE_ISA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/kernels/isa/*.cpp)

if(NOT XTAPE_FUZZ AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set(isas plain v3 v4)
else()
  set(isas plain)
endif()
set(XTAPE_ISAS "${isas}" CACHE STRING "Instruction sets of the kernels: plain, or on x86-64 plain;v3;v4")
set(XTAPE_ISA_OPTIONS_plain "")
set(XTAPE_ISA_OPTIONS_v3 -march=x86-64-v3)
set(XTAPE_ISA_OPTIONS_v4 -march=x86-64-v4 -mprefer-vector-width=512)

# Compiles the files of the target in groups of so many, at half the time. Names in their anonymous namespaces must
# differ; kernels (each has its table()) and readers (each has its fail()) stand apart.
set(apart ${XTAPE_SOURCES} ${XTAPE_BASE_SOURCES})
list(FILTER apart INCLUDE REGEX "^(core/kernels|data)/")
set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
function(xtape_unite target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${XTAPE_UNITY} UNITY_BUILD_BATCH_SIZE ${files})
endfunction()

add_library(xtape_base STATIC ${XTAPE_BASE_SOURCES})
target_include_directories(xtape_base PUBLIC ${XTAPE_INCLUDE})
target_include_directories(xtape_base SYSTEM PRIVATE ${RANDOM123_INCLUDE_DIR})
target_compile_definitions(xtape_base PRIVATE XTAPE_VERSION="${PROJECT_VERSION}")
target_link_libraries(xtape_base PUBLIC xtensor Threads::Threads
                      PRIVATE xtape_options nlohmann_json::nlohmann_json CLI11::CLI11 simdjson::simdjson spdlog::spdlog
                              ZLIB::ZLIB)
xtape_unite(xtape_base 10)

# Parses the headers once for all files of the target; the option lets ccache see what the precompiled header holds.
function(xtape_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# xtape_add_dtype(f32 [definition...]): libxtape_f32 with its kernels for every instruction set.
function(xtape_add_dtype dtype)
  set(objects "")
  foreach(isa ${XTAPE_ISAS})
    set(name xtape_${dtype}_kernels_${isa})
    add_library(${name} OBJECT ${XTAPE_ISA_SOURCES})
    target_include_directories(${name} PRIVATE ${XTAPE_INCLUDE})
    target_compile_definitions(${name} PRIVATE ${ARGN} XTAPE_ISA_NAMESPACE=${isa} XTAPE_ISA_NAME="${isa}")
    # The last two let loops with libm-like arithmetic become vector code; they change no result.
    # GCC 14 takes a vector whose lanes are written one by one for uninitialized.
    target_compile_options(${name} PRIVATE -O3 ${XTAPE_ISA_OPTIONS_${isa}} -fno-math-errno -fno-trapping-math -Wno-psabi
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_libraries(${name} PRIVATE xtape_options)
    list(APPEND objects $<TARGET_OBJECTS:${name}>)
  endforeach()
  add_library(xtape_${dtype} STATIC ${XTAPE_SOURCES} ${objects})
  target_compile_definitions(xtape_${dtype} PUBLIC ${ARGN})
  if(XTAPE_ISAS MATCHES v4)
    target_compile_definitions(xtape_${dtype} PRIVATE XTAPE_X86_ISAS)
  endif()
  target_link_libraries(xtape_${dtype} PUBLIC xtape_base
                        PRIVATE xtape_options xtensor-blas nlohmann_json::nlohmann_json spdlog::spdlog ${OpenBLAS_LIBRARIES})
  target_include_directories(xtape_${dtype} SYSTEM PRIVATE ${OpenBLAS_INCLUDE_DIRS})
  xtape_unite(xtape_${dtype} 10)
  xtape_precompile(xtape_${dtype} ${PROJECT_SOURCE_DIR}/core/tensor.hpp)
endfunction()

xtape_add_dtype(f32)
if(XTAPE_HAS_ONEDNN)
  target_compile_definitions(xtape_f32 PRIVATE XTAPE_ONEDNN)
  target_include_directories(xtape_f32 SYSTEM PRIVATE ${XTAPE_ONEDNN_INCLUDE_DIR})
  target_link_libraries(xtape_f32 PRIVATE ${XTAPE_ONEDNN_LIBRARY} gomp)  # its threads are OpenMP's
endif()
xtape_add_dtype(f64 XTAPE_DOUBLE)
add_library(xtape::f32 ALIAS xtape_f32)
add_library(xtape::f64 ALIAS xtape_f64)
