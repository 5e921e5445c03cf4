// rightsize as a C++ library: which GPU a workload needs, for the least money.
//
//   #include <rightsize/rightsize.h>
//
//   namespace rs = rightsize::v1;
//
//   rs::Estimator estimator;                                        // for loops: facts and models are read once
//   auto fast = estimator.estimate("llama-3.1-8b", "h100-sxm", {{"job", "serve"}, {"concurrency", 32}});
//   if (!fast) return fail(fast.error().text);                      // nothing throws: an answer or an error
//   double tpot = fast->tpot_seconds.value();
//
//   auto plans = rs::recommend({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"deadline", "7d"}});
//   auto fleet = rs::call("fleet", {{"from", "metrics.json"}, {"price", 2.49}});   // any command, as a document
//
// Every function is a command of the program: the same settings, the same answers, the same errors. The headers, in the
// order to read them:
//
//   settings.h   what a command is asked: names and values
//   answer.h     a value, or an error with its place and what to try
//   document.h   what a command prints with --format json, and the report in other formats
//   estimate.h   how fast a job runs, also by the hundred thousand
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
