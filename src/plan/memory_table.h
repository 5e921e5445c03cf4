// Memory for a search: bounds in nanoseconds after a first look, and the exact need of what will be shown.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "memory/memory.h"
#include "memory/train.h"
#include "workload/job.h"

namespace rightsize::plan {

class MemoryTable {
 public:
  explicit MemoryTable(const workload::ModelShape& model)
      : model_(model), parameters_(static_cast<double>(model.parameters())) {}

  // A training job's high bound on one GPU. Compiled for a few numbers of shards; between two of them the line joining
  // their values, which is never below the truth (a maximum of functions linear in 1 / shards is convex).
  Bytes high(const workload::Job& job);

  // A bound from below without compiling anything: weights, gradients and optimizer states alone.
  Bytes floor(const workload::Job& job) const;

  // The need as `rightsize memory` has it.
  const memory::MemoryNeed& need(const workload::Job& job, const catalog::Gpu& gpu);

  double compiled() const { return static_cast<double>(curves_.size()); }

 private:
  using CurveKey = std::tuple<int, int, int, int, int, int, bool, int>;
  using NeedKey = std::tuple<CurveKey, std::int64_t, int, int, std::string>;
  const memory::TrainingNeeds& curve(const workload::Job& job, int shards);

  const workload::ModelShape& model_;
  double parameters_;
  std::map<CurveKey, std::unique_ptr<memory::TrainingNeeds>> curves_;
  std::map<NeedKey, memory::MemoryNeed> needs_;
};

}  // namespace rightsize::plan
