// Ways to free memory: each option alone, and the cheapest combination that makes a job fit.
//
// This module knows only bytes. The caller supplies the speed: the same settings must have the same speed everywhere.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory.h"

namespace rightsize::memory {

// At most one option of each kind is used: a weight has one format.
enum class OptionKind { kOther, kFormat, kBatch, kMethod, kSplit };

// One change a user can make.
struct MemoryOption {
  std::string name;  // "full recompute"
  OptionKind kind = OptionKind::kOther;
  std::string accuracy;  // effect on the result, with its source; empty if none
  void (*apply)(model::Job&);
  bool (*applies)(const model::ModelShape&, const model::Job&);  // not already in use, and applicable
};

// Every option that applies to this job; with a GPU, only those in number formats that it supports.
std::vector<MemoryOption> options_for(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

// Time per unit of work (token, sample); empty if unknown.
using TimeOf = std::function<std::optional<Seconds>(const model::Job&)>;

struct OptionEffect {
  std::vector<MemoryOption> taken;
  model::Job job;     // with the options applied
  std::string flags;  // flags that turn the original job into this one: "--method lora --precision bf16"
  MemoryNeed need;
  Bytes saved;
  std::optional<double> slowdown;  // factor on the time per unit of work; empty if unknown
};

// Each option alone, largest saving first.
std::vector<OptionEffect> each_option(const model::ModelShape& model, const model::Job& job, const TimeOf& time_of,
                                      const catalog::Gpu* gpu = nullptr);

// The combination with the least slowdown (then the fewest options) that fits `gpu`; if there is none, the one that
// needs least, if it is tight; empty if that does not fit either. Combinations with an unknown slowdown come last.
// `same_result` allows only options that do not change the model; for serving, fewer requests in flight come first.
std::optional<OptionEffect> cheapest_fit(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                                         const TimeOf& time_of, bool same_result);

// The largest batch per GPU of this training job that fits; 0: not even one sample does.
std::int64_t largest_batch(const model::ModelShape& model, model::Job job, const catalog::Gpu& gpu);
// The longest sequence of this training job that fits, at most the model's context; 0: not even the shortest does.
std::int64_t longest_sequence(const model::ModelShape& model, model::Job job, const catalog::Gpu& gpu);

}  // namespace rightsize::memory
