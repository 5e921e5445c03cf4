# Generates the JSON schemas of the program's documents, the OpenAPI file, the Python classes and stubs, the manual pages and
# completions by running the program, so they always match this build. A cross build runs it under an emulator.
function(rightsize_descriptions)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(folder ${PROJECT_BINARY_DIR}/descriptions)
  set(tool ${PROJECT_SOURCE_DIR}/tools/python_types)
  set(manual ${PROJECT_SOURCE_DIR}/tools/manual_pages)
  add_custom_command(
    OUTPUT ${folder}/made
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND rightsize schema all > ${folder}/schemas.json
    COMMAND rightsize schema commands > ${folder}/commands.json
    COMMAND rightsize serve --openapi --format json > ${folder}/openapi.json
    COMMAND ${Python3_EXECUTABLE} ${tool} ${folder} ${PROJECT_BINARY_DIR}
    COMMAND ${Python3_EXECUTABLE} ${manual} ${PROJECT_BINARY_DIR}/share ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:rightsize>
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
    DEPENDS rightsize ${tool} ${manual} ${PROJECT_SOURCE_DIR}/python/module.cc COMMENT "Describing the program" VERBATIM)
  add_custom_target(rightsize_descriptions ALL DEPENDS ${folder}/made)
endfunction()
