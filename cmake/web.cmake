# The page of `rightsize serve`: npm builds it from web/, and it is compiled into the program. Without Node, a page that
# explains how to build it is compiled in instead (tools/build_web).
option(RIGHTSIZE_WEB "build the page of 'rightsize serve' (needs Node and npm)" ON)

function(rightsize_web target)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(web ${PROJECT_SOURCE_DIR}/web)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.tsx ${web}/src/*.css ${web}/public/*)
  # schema.ts is generated from the OpenAPI file and needed only for type checking, not for building the page.
  list(FILTER sources EXCLUDE REGEX "/api/schema\\.ts$")
  set(made ${PROJECT_BINARY_DIR}/web_files.cc)
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/build_web ${made} --work ${PROJECT_BINARY_DIR}/web
            $<$<NOT:$<BOOL:${RIGHTSIZE_WEB}>>:--without-node>
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/build_web ${web}/package.json ${web}/package-lock.json ${web}/vite.config.ts ${web}/tsconfig.json
            ${web}/index.html ${web}/substitute.html ${PROJECT_SOURCE_DIR}/examples/portfolio/team.yaml ${sources}
    COMMENT "Building the page" VERBATIM COMMAND_EXPAND_LISTS)
  rightsize_add_embedding(${target} ${made})
endfunction()
