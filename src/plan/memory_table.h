// Memory for a search: bounds in nanoseconds after a first look, and the exact need of what will be shown.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "memory/memory.h"
#include "memory/train.h"
#include "model/job.h"

namespace rightsize::plan {

class MemoryTable {
 public:
  explicit MemoryTable(const model::ModelShape& model)
      : model_(model), parameters_(static_cast<double>(model.parameters())) {}

  // A training job's high bound on one GPU.
  Bytes high(const model::Job& job);

  // A bound from below without compiling anything: weights, gradients and optimizer states alone.
  Bytes floor(const model::Job& job) const;

  // The need as `rightsize memory` has it.
  const memory::MemoryNeed& need(const model::Job& job, const catalog::Gpu& gpu);

  // Finds these needs on all cores: each is a replay of milliseconds, and the answers are the same.
  struct Asked {
    const model::Job* job;
    const catalog::Gpu* gpu;
  };
  void find_together(const std::vector<Asked>& asked);

  double compiled() const { return static_cast<double>(surfaces_.size()); }

 private:
  using Settings = std::tuple<int, int, int, int, int, int, bool, bool>;
  using NeedKey = std::tuple<Settings, int, std::int64_t, int, int, std::string>;
  static Settings settings_of(const model::Job& job);
  static NeedKey key_of(const model::Job& job, const catalog::Gpu& gpu);

  const model::ModelShape& model_;
  double parameters_;
  std::map<Settings, std::unique_ptr<memory::TrainingNeeds>> surfaces_;
  std::map<NeedKey, memory::MemoryNeed> needs_;
};

}  // namespace rightsize::plan
