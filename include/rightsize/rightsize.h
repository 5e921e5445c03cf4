// rightsize as a C++ library: finds the cheapest GPUs for a workload.
//
//   #include <rightsize/rightsize.h>
//
//   namespace rs = rightsize::v1;
//
//   rs::Estimator estimator;                                        // for loops: reads the catalogue and models once
//   auto fast = estimator.estimate("llama-3.1-8b", "h100-sxm", {{"job", "serve"}, {"concurrency", 32}});
//   if (!fast) return fail(fast.error().text);                      // errors are returned, not thrown
//   double tpot = fast->tpot_seconds.value();
//
//   auto plans = rs::recommend({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"deadline", "7d"}});
//   auto fleet = rs::call("fleet", {{"from", "metrics.json"}, {"price", 2.49}});   // any command, as a document
//
// Every function is a command of the program, with the same settings, answers and errors. Read the headers in this
// order:
//
//   settings.h   names and values of a command's settings
//   answer.h     a value, or an error with its place and a hint
//   document.h   the JSON document of a command, and its report in other formats
//   estimate.h   how fast a job runs; fast enough for loops
//   memory.h     GPU memory of a job
//   recommend.h  the cheapest machines, settings and terms
//   commands.h   every other command
//
// With CMake: find_package(rightsize REQUIRED), target_link_libraries(app PRIVATE rightsize::rightsize). C++17.
// All functions are thread-safe; use one Estimator per thread. Names in v1 keep their meaning; incompatible changes go
// into v2.
#pragma once

#include <rightsize/answer.h>
#include <rightsize/commands.h>
#include <rightsize/document.h>
#include <rightsize/estimate.h>
#include <rightsize/memory.h>
#include <rightsize/recommend.h>
#include <rightsize/settings.h>
