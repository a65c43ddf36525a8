# Run at every build (cmake -P): fills build_info.cpp.in. configure_file leaves an unchanged file
# alone, so nothing is compiled again unless the commit or the dirty flag changed.
set(ROPE_BENCH_COMMIT "")
set(ROPE_BENCH_DIRTY false)
if(GIT)
  # Only a repository of our own: an unpacked archive may lie inside somebody else's.
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-prefix --short=12 HEAD
                  OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n")
    set(ROPE_BENCH_COMMIT ${CMAKE_MATCH_1})
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} --no-optional-locks status --porcelain
                            --untracked-files=no
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(ROPE_BENCH_DIRTY true)
    endif()
  endif()
endif()
configure_file(${SOURCE_DIR}/cmake/build_info.cpp.in ${OUTPUT} @ONLY)
