# bin/rope-bench, share/rope-bench/configs and share/rope-bench/schema. The schemas come from the
# binary itself, so that they cannot differ from what it accepts and writes.
include(GNUInstallDirs)

set(rope_schema_dir ${PROJECT_BINARY_DIR}/schema)
set(rope_schemas "")
foreach(kind config results)
  set(schema ${rope_schema_dir}/${kind}.schema.json)
  add_custom_command(OUTPUT ${schema}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${rope_schema_dir}
    COMMAND rope-bench schema ${kind} -o json:${schema}
    DEPENDS rope-bench COMMENT "Writing ${kind}.schema.json" VERBATIM)
  list(APPEND rope_schemas ${schema})
endforeach()
add_custom_target(rope_schemas ALL DEPENDS ${rope_schemas})

install(TARGETS rope-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/rope-bench
        FILES_MATCHING PATTERN "*.json")
install(FILES ${rope_schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/rope-bench/schema)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/rope-bench)
