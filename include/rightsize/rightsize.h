// rightsize as a C++ library: which GPU a workload needs, for the least money.
//
//   #include <rightsize/rightsize.h>
//
//   namespace rs = rightsize::v1;
//
//   rs::Estimator estimator;                                        // for loops: reads facts and models once
//   auto fast = estimator.estimate("llama-3.1-8b", "h100-sxm", {{"job", "serve"}, {"concurrency", 32}});
//   if (!fast) return fail(fast.error().text);                      // nothing throws: an answer or an error
//   double tpot = fast->tpot_seconds.value();
//
//   auto plans = rs::recommend({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"deadline", "7d"}});
//   auto fleet = rs::call("fleet", {{"from", "metrics.json"}, {"price", 2.49}});   // any command, as a document
//
// Every function is a command of the program, with the same settings, answers and errors. The headers in reading
// order:
//
//   settings.h   names and values of a command's settings
//   answer.h     a value, or an error with its place and a hint
//   document.h   the JSON document of a command, and its report in other formats
//   estimate.h   how fast a job runs, fast enough for loops
//   memory.h     what a job needs on a GPU
//   recommend.h  which machines, settings and terms cost least
//   commands.h   every other command
//
// With CMake: find_package(rightsize REQUIRED), target_link_libraries(app PRIVATE rightsize::rightsize). C++17.
// Everything but Estimator may be used from several threads at once. A name in v1 keeps its meaning; a change gets a
// v2.
#pragma once

#include <rightsize/answer.h>
#include <rightsize/commands.h>
#include <rightsize/document.h>
#include <rightsize/estimate.h>
#include <rightsize/memory.h>
#include <rightsize/recommend.h>
#include <rightsize/settings.h>
