# How a module is built: one folder is one static library and one namespace, with its tests next to the code.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

option(RIGHTSIZE_FUZZ "build the fuzz targets (needs clang and its instrumentation)" OFF)
option(RIGHTSIZE_UNITY "compile up to twelve files as one, which more than halves the work" OFF)
option(RIGHTSIZE_HARDENED "stop at overwritten stacks and buffers, and make the tables of addresses read-only" OFF)
option(RIGHTSIZE_PCH "compile the standard headers of the modules once, which saves a quarter of the work" OFF)

if(RIGHTSIZE_HARDENED)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(LINKER:-z,relro LINKER:-z,now)
endif()

add_library(rightsize_flags INTERFACE)
target_include_directories(rightsize_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(rightsize_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# One answer on every processor: by default, only arm64 fuses a multiplication and an addition, and a simulation then takes
# another course.
target_compile_options(rightsize_flags INTERFACE -ffp-contract=off)
# g++ 12 reports overlapping copies inside std::string that do not exist (GCC bug 105651).
target_compile_options(rightsize_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# On arm64 GCC notes a change of the calling convention in GCC 10; everything here is built with one compiler.
target_compile_options(rightsize_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
if(RIGHTSIZE_UNITY)  # a class in a header may have members of types that only its own file defines
  target_compile_options(rightsize_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# Headers that nearly every file includes. Debug and clang-tidy builds do not precompile them, so they fail on a file that
# forgets to include one. With a precompiled header, g++ 12 treats std::string as our code and reports overruns in it that
# do not exist; the builds without one keep those warnings.
set(RIGHTSIZE_COMMON_HEADERS <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <string> <string_view>
                             <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
if(RIGHTSIZE_PCH)
  target_compile_options(rightsize_flags INTERFACE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "")
  add_library(rightsize_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
  target_link_libraries(rightsize_pch PRIVATE rightsize_flags fmt::fmt tl::expected)
  target_precompile_headers(rightsize_pch PRIVATE ${RIGHTSIZE_COMMON_HEADERS})
endif()

# Headers that every test includes, compiled once. Tests are built without optimization: they run for milliseconds, and
# compiling is several times faster.
function(rightsize_test_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cc CONTENT "")
  add_library(rightsize_test_pch OBJECT ${PROJECT_BINARY_DIR}/test_pch.cc)
  target_link_libraries(rightsize_test_pch PRIVATE rightsize_flags fmt::fmt tl::expected GTest::gmock
                        GTest::gtest rapidcheck)
  rightsize_test_options(rightsize_test_pch)
  target_precompile_headers(rightsize_test_pch PRIVATE <map> <string> <vector> <fmt/format.h> <tl/expected.hpp>
                            <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
endfunction()

function(rightsize_test_options target)
  target_compile_options(${target} PRIVATE -O0)
  if(RIGHTSIZE_HARDENED)
    target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE)  # it needs optimization
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "coverage-mapping")  # coverage counts the code under test, not the tests
    target_compile_options(${target} PRIVATE -fno-profile-instr-generate -fno-coverage-mapping)
  endif()
  target_compile_definitions(${target} PRIVATE RIGHTSIZE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# rightsize_module(NAME [COLD] [DEPS module...] [PARTS sub-folder...] [LIBS target...] [EMBED folder])
# Builds the library rightsize::NAME from src/NAME and the test NAME_test from the *_test.cc files in it.
# COLD modules read, write or wait and compute little. They are built with -O1, which compiles a quarter faster.
# PARTS are for tools/check_layers. EMBED puts every file of a folder into the library; embedded_file() reads them.
function(rightsize_module name)
  cmake_parse_arguments(MODULE "COLD" "EMBED" "DEPS;PARTS;LIBS" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  list(TRANSFORM MODULE_DEPS PREPEND rightsize_module_ OUTPUT_VARIABLE dep_targets)

  add_library(rightsize_module_${name} STATIC ${sources})
  add_library(rightsize::${name} ALIAS rightsize_module_${name})
  target_link_libraries(rightsize_module_${name} PUBLIC rightsize_flags ${dep_targets} ${MODULE_LIBS})
  if(MODULE_COLD)
    target_compile_options(rightsize_module_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(RIGHTSIZE_PCH)
    target_link_libraries(rightsize_module_${name} PRIVATE fmt::fmt tl::expected)
    target_precompile_headers(rightsize_module_${name} REUSE_FROM rightsize_pch)
  endif()
  if(RIGHTSIZE_UNITY)
    rightsize_unity(rightsize_module_${name})
  endif()
  if(MODULE_EMBED)
    rightsize_embed(rightsize_module_${name} ${MODULE_EMBED})
  endif()

  if(tests AND BUILD_TESTING)
    rightsize_test(${name} SOURCES ${tests} LIBS rightsize_module_${name})
  endif()
endfunction()

# rightsize_test(NAME SOURCES file... LIBS target...): the test program NAME_test, run by ctest as unit.NAME.
function(rightsize_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBS" ${ARGN})
  list(LENGTH TEST_SOURCES size)
  if(RIGHTSIZE_UNITY)
    rightsize_combine_tests(${name} TEST_SOURCES)
  endif()
  add_executable(${name}_test ${TEST_SOURCES})
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                                EXCLUDE_FROM_ALL ${RIGHTSIZE_FUZZ})  # that build runs fuzz targets only
  target_link_libraries(${name}_test PRIVATE ${TEST_LIBS} fmt::fmt tl::expected GTest::gmock GTest::gtest_main rapidcheck)
  rightsize_test_options(${name}_test)
  target_precompile_headers(${name}_test REUSE_FROM rightsize_test_pch)
  add_test(NAME unit.${name} COMMAND ${name}_test --gtest_brief=1)
  # Property tests draw the same 40 cases every time, which makes failures reproducible; `make check-long` draws 200 others.
  # Large tests start first, so that none runs alone at the end.
  set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT "RC_PARAMS=seed=1 max_success=40" COST ${size})
endfunction()

# Replaces a list of test files by a few sources that contain them (tools/combine_tests): googletest's templates and the
# headers are then compiled once for many tests, which takes a third of the time.
function(rightsize_combine_tests name sources)
  set(folder ${PROJECT_BINARY_DIR}/combined_tests/${name})
  set(files ${${sources}})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  set(combine ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/combine_tests ${folder})
  execute_process(COMMAND ${combine} 0 ${files} OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  math(EXPR last "${count} - 1")
  set(parts "")
  foreach(part RANGE ${last})
    list(APPEND parts ${folder}/part_${part}.cc)
  endforeach()
  add_custom_command(OUTPUT ${parts} COMMAND ${combine} ${count} ${files} > ${folder}/count
                     DEPENDS ${files} ${PROJECT_SOURCE_DIR}/tools/combine_tests VERBATIM)
  set(${sources} ${parts} PARENT_SCOPE)
endfunction()

# Compiles several files of a target as one, in groups without name clashes between helpers (tools/unity_groups).
# CMake computes the groups when it runs. If names clash after a change, run CMake again.
function(rightsize_unity target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unity_groups ${sources}
                  OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Writes a source file that embeds every file of `folder` byte for byte, with a table of names.
function(rightsize_embed target folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_SOURCE_DIR}/${folder}/*)
  set(assembly "")
  set(declarations "")
  set(rows "")
  set(index 0)
  set(paths "")
  foreach(file IN LISTS files)
    if(file MATCHES "\\.md$|^measurements/")  # the program does not read measurements
      continue()
    endif()
    string(APPEND assembly "asm(\".section .rodata\\n.global embedded_${index}_begin\\n.global embedded_${index}_end\\n"
      "embedded_${index}_begin:\\n.incbin \\\"${PROJECT_SOURCE_DIR}/${folder}/${file}\\\"\\n"
      "embedded_${index}_end:\\n.byte 0\\n.previous\\n\");\n")
    string(APPEND declarations "extern \"C\" const char embedded_${index}_begin[], embedded_${index}_end[];\n")
    string(APPEND rows "    {\"${file}\", {embedded_${index}_begin, "
      "static_cast<std::size_t>(embedded_${index}_end - embedded_${index}_begin)}},\n")
    list(APPEND paths ${PROJECT_SOURCE_DIR}/${folder}/${file})
    math(EXPR index "${index} + 1")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/embedded_${target}.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT "// Made by cmake/rightsize.cmake.
#include \"base/embedded.h\"
@assembly@@declarations@namespace rightsize {
const std::vector<EmbeddedFile>& embedded_files() {
  static const std::vector<EmbeddedFile> files = {
@rows@  };
  return files;
}
}  // namespace rightsize
")
  set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS "${paths}")
  rightsize_add_embedding(${target} ${generated})
endfunction()

# A source that embeds files is compiled without the compiler cache. The cache does not see the embedded files and would
# return an outdated object after they change.
function(rightsize_add_embedding target source)
  add_library(${target}_files OBJECT ${source})
  set_target_properties(${target}_files PROPERTIES CXX_COMPILER_LAUNCHER "" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target}_files PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_files>)
endfunction()

# rightsize_table(MODULE TYPE NAMESPACE HEADER FUNCTION): a table with rows from many files. Every file in a sub-folder of
# src/MODULE defines a function with the file's name that returns a vector of TYPE. FUNCTION, declared in HEADER, returns
# all rows, sorted by name.
function(rightsize_table module type namespace header all)
  set(folder ${PROJECT_SOURCE_DIR}/src/${module})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*/*.cc)
  list(FILTER files EXCLUDE REGEX "_test\\.cc$")
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND declarations "std::vector<${type}> ${name}();\n")
    string(APPEND calls "${name}, ")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/${module}_table.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT "// Made by cmake/rightsize.cmake.
#include <algorithm>

#include \"@header@\"
namespace @namespace@ {
@declarations@
const std::vector<@type@>& @all@() {
  static const std::vector<@type@> table = [] {
    std::vector<@type@> rows;
    for (std::vector<@type@> (*list)() : {@calls@}) {
      for (@type@& row : list()) rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const @type@& a, const @type@& b) { return a.name < b.name; });
    return rows;
  }();
  return table;
}
}  // namespace @namespace@
")
  target_sources(rightsize_module_${module} PRIVATE ${generated})
endfunction()
