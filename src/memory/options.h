// What frees memory: each option alone, and the cheapest combination that makes a job fit.
//
// This room knows bytes. What an option does to the speed is asked of whoever knows it, so that the same settings have
// the same speed here as anywhere else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory.h"

namespace rightsize::memory {

// Of options of one kind at most one is taken: a weight has one format.
enum class OptionKind { kOther, kFormat, kBatch, kMethod };

// One thing a user can change.
struct MemoryOption {
  std::string name;  // "full recompute"
  OptionKind kind = OptionKind::kOther;
  std::string accuracy;  // what it does to the result, with the source; empty when nothing
  model::Job (*apply)(model::Job);
  bool (*applies)(const model::ModelShape&, const model::Job&);  // not already taken, and makes sense
};

// Every option that applies to this job.
std::vector<MemoryOption> options_for(const model::ModelShape& model, const model::Job& job);

// Time of a unit of work (a token, a sample); nothing when it is not known.
using TimeOf = std::function<std::optional<Seconds>(const model::Job&)>;

struct OptionEffect {
  std::vector<MemoryOption> taken;
  model::Job job;     // with them
  std::string flags;  // that make this job of the one asked about: "--method lora --precision bf16"
  MemoryNeed need;
  Bytes saved;
  std::optional<double> slowdown;  // factor on the time of a unit of work; nothing when it is not known
};

// Each option alone, the one that saves most first.
std::vector<OptionEffect> each_option(const model::ModelShape& model, const model::Job& job, const TimeOf& time_of);

// The combination with the least slowdown (then the fewest options) whose high bound fits `gpu`; nothing when none
// does. Combinations whose slowdown is not known come last. With `same_result` only options that leave the trained or
// served model as it is.
std::optional<OptionEffect> cheapest_fit(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                                         const TimeOf& time_of, bool same_result);

}  // namespace rightsize::memory
