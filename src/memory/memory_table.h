// Memory for a search: fast bounds, and the exact need of the plans that will be shown.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "memory/memory.h"
#include "memory/train.h"
#include "model/job.h"

namespace rightsize::memory {

class MemoryTable {
 public:
  explicit MemoryTable(const model::ModelShape& model);

  // A training job's high bound on one GPU.
  Bytes high(const model::Job& job);

  // A lower bound without compiling anything: only weights, gradients and optimizer states.
  Bytes floor(const model::Job& job) const;

  // The same need as `rightsize memory` reports.
  const MemoryNeed& need(const model::Job& job, const catalog::Gpu& gpu);

  // Computes these needs on all cores; each is a replay that takes milliseconds.
  struct Asked {
    const model::Job* job;
    const catalog::Gpu* gpu;
  };
  void find_together(const std::vector<Asked>& asked);

  double compiled() const { return static_cast<double>(surfaces_.size()); }

 private:
  using Settings = std::tuple<int, int, int, int, int, int, int, int, int, bool>;
  using NeedKey = std::tuple<Settings, int, std::int64_t, int, int, std::string>;
  static Settings settings_of(const model::Job& job);
  static NeedKey key_of(const model::Job& job, const catalog::Gpu& gpu);

  // Bytes of the experts' weights and gradients, and of their states if these are not sharded.
  double expert_bytes(const model::Job& job) const;

  const model::ModelShape& model_;
  double parameters_;
  double expert_parameters_ = 0;  // of all experts
  double expert_layers_ = 0;
  std::map<Settings, std::unique_ptr<TrainingNeeds>> surfaces_;
  std::map<NeedKey, MemoryNeed> needs_;
};

}  // namespace rightsize::memory
