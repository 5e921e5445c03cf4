// What frees memory: each lever alone, and the cheapest combination that makes a job fit.
#pragma once

#include <string>
#include <vector>

#include "memory/memory.h"

namespace rightsize::memory {

// One thing a user can change.
struct Lever {
  std::string name;      // "full recompute"
  std::string flags;     // "--recompute full"
  double slowdown = 1;   // expected factor on the time per step
  std::string accuracy;  // what it does to the result, empty when nothing
  std::string source;    // where slowdown and accuracy come from
  model::Job (*apply)(model::Job);
  bool (*applies)(const model::ModelShape&, const model::Job&);  // not already pulled, and makes sense
};

// Every lever that applies to this job.
std::vector<Lever> levers_for(const model::ModelShape& model, const model::Job& job);

struct LeverEffect {
  std::vector<Lever> pulled;
  MemoryNeed need;
  Bytes saved;
  double slowdown = 1;  // product over the levers
};

// Each lever alone, the one that saves most first.
std::vector<LeverEffect> each_lever(const model::ModelShape& model, const model::Job& job);

// The combination with the least slowdown (then the fewest levers) whose high bound fits `gpu`; nothing when none does.
// With `same_result` only levers that leave the trained or served model as it is.
std::optional<LeverEffect> cheapest_fit(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                                        bool same_result);

}  // namespace rightsize::memory
