# rope_build_info(TARGET): adds a generated source with version, commit, compiler and CUDA toolkit.
function(rope_build_info target)
  find_program(ROPE_BENCH_GIT git)
  mark_as_advanced(ROPE_BENCH_GIT)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)
  set(toolkit "")
  if(ROPE_BENCH_HAVE_CUDA)
    set(toolkit ${CMAKE_CUDA_COMPILER_VERSION})
  endif()
  # Always out of date, but restat: ninja and make go on only if the file's time changed.
  add_custom_target(rope_build_info_${target}
    COMMAND ${CMAKE_COMMAND} -D GIT=$<$<BOOL:${ROPE_BENCH_GIT}>:${ROPE_BENCH_GIT}>
            -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D OUTPUT=${generated}
            -D ROPE_BENCH_VERSION=${PROJECT_VERSION} -D ROPE_BENCH_CUDA_TOOLKIT=${toolkit}
            -D "ROPE_BENCH_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
            -P ${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake
    BYPRODUCTS ${generated} COMMENT "" VERBATIM)
  add_dependencies(${target} rope_build_info_${target})
  target_sources(${target} PRIVATE ${generated})
endfunction()
