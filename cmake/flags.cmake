# One interface target that every target of ours links.
add_library(rope_flags INTERFACE)
target_include_directories(rope_flags INTERFACE ${PROJECT_SOURCE_DIR})
# False positives left out: maybe-uninitialized (g++ 12 in nlohmann/json), dangling-reference (g++ 13).
# CUDA_STANDARD 20 is refused by CMake 3.25 with nvcc 13: the flag is passed by hand.
target_compile_options(rope_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-unknown-warning-option>
  $<$<COMPILE_LANGUAGE:CXX>:-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-maybe-uninitialized -Wno-dangling-reference -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
if(ROPE_BENCH_SANITIZE)
  target_compile_options(rope_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ROPE_BENCH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>
    # Checks of every pointer make JSON and test code slow to compile and find little beside address. The
    # libraries that compute keep them. (After -fsanitize, hence here and not in rope_cold.)
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:$<TARGET_PROPERTY:ROPE_COLD>>>:-fno-sanitize=null,vptr,alignment,pointer-overflow,object-size,nonnull-attribute,returns-nonnull-attribute>)
  target_link_options(rope_flags INTERFACE -fsanitize=${ROPE_BENCH_SANITIZE})
endif()

# rope_library(NAME SOURCES... ) : a static library of ours.
function(rope_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC rope_flags Threads::Threads)
endfunction()

# rope_cold(NAME): nothing in this target is hot, and its headers (JSON, CLI11, GoogleTest) make it slow
# to compile: optimising less halves that, above all under sanitizers.
function(rope_cold name)
  if(ROPE_BENCH_SANITIZE)
    set_target_properties(${name} PROPERTIES ROPE_COLD ON)
    target_compile_options(${name} PRIVATE -O0)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# Before every test's name, to tell builds apart when one ctest runs several.
set(ROPE_BENCH_TEST_PREFIX "" CACHE STRING "Prefix of test names")
# rope_test(NAME SOURCES... [LIBS libs...] [LABEL label]) : one GoogleTest binary. Label `host` unless given.
# TEST_DATA_DIR names tests/data.
function(rope_test name)
  cmake_parse_arguments(arg "" "LABEL" "LIBS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL host)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE rope_flags ${arg_LIBS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data"
                                             CONFIG_DIR="${PROJECT_SOURCE_DIR}/configs")
  rope_cold(${name})
  set(properties LABELS ${arg_LABEL} TIMEOUT 300)
  if(arg_LABEL STREQUAL "gpu")
    list(APPEND properties RESOURCE_LOCK gpu)  # a time taken while others use the GPU is wrong
  endif()
  gtest_discover_tests(${name} NO_PRETTY_VALUES TEST_PREFIX "${ROPE_BENCH_TEST_PREFIX}" PROPERTIES ${properties}
                       DISCOVERY_TIMEOUT 60)
endfunction()
