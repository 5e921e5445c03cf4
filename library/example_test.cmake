# Installs the library into an empty folder, and builds and runs examples/cpp with it, as a user would.
set(prefix ${BUILD}/library_example/prefix)
set(build ${BUILD}/library_example/build)
file(REMOVE_RECURSE ${BUILD}/library_example)
foreach(step IN ITEMS
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${prefix};--component;library"
    "${CMAKE_COMMAND};-S;${EXAMPLE};-B;${build};-G;${GENERATOR};-DCMAKE_PREFIX_PATH=${prefix}"
    "${CMAKE_COMMAND};--build;${build}"
    "${build}/first_recommendation")
  execute_process(COMMAND ${step} RESULT_VARIABLE failed OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  if(failed)
    message(FATAL_ERROR "${step}: ${failed}\n${printed}")
  endif()
endforeach()
message(STATUS "${printed}")
if(NOT printed MATCHES "tokens/s per GPU" OR NOT printed MATCHES "unknown GPU" OR NOT printed MATCHES "cheapest")
  message(FATAL_ERROR "the example printed something else:\n${printed}")
endif()
file(GLOB headers ${prefix}/include/rightsize/*.h)
list(LENGTH headers count)
if(count GREATER 10)
  message(FATAL_ERROR "${count} public headers: the most is ten")
endif()
