// The shares of a partitioned GPU's parts, which at every moment add up to one GPU.
#include <map>
#include <string>

#include "fleet/fleet.h"

namespace rightsize::fleet {
namespace {

std::string physical_key(const GpuRow& row) {
  Device whole = row.use.device;
  whole.mig_id.clear();
  return whole.key();
}

void set_share(GpuRow& row, double share) {
  row.price.share = share;
  row.set_cost();
}

void describe_free(GpuRow& row) {
  row.verdict = diagnose::Verdict::kIdle;
  row.confidence = 0.8;
  row.evidence = {"no MIG instance uses this part of the GPU"};
  row.share = {};
  row.share[static_cast<std::size_t>(Category::kIdle)] = 1;
}

// The shares of instances that exist at the same time may exceed one GPU (4/7 + 1/2); they are then scaled down.
void settle(GpuRow& free, std::map<std::string, GpuRow*>& instances) {
  std::map<std::string, Seconds> whole;  // in time of a whole GPU
  Seconds rest;
  for (const MigLayout& layout : free.use.layouts) {
    double sum = 0;
    for (const std::string& name : layout.instances) {
      if (instances.contains(name)) sum += instances[name]->price.share;
    }
    rest += std::max(0.0, 1 - sum) * layout.time;
    for (const std::string& name : layout.instances) {
      if (instances.contains(name)) whole[name] += instances[name]->price.share / std::max(1.0, sum) * layout.time;
    }
  }
  for (const auto& [name, row] : instances) {
    if (row->use.covered > Seconds{} && whole.contains(name)) set_share(*row, whole[name] / row->use.covered);
  }
  set_share(free, free.use.covered > Seconds{} ? rest / free.use.covered : 0);
  describe_free(free);
}

}  // namespace

void settle_partitioned(std::vector<GpuRow>& gpus) {
  std::map<std::string, std::map<std::string, GpuRow*>> instances;  // by GPU, then by instance
  for (GpuRow& row : gpus) {
    if (!row.use.device.mig_id.empty() && !row.use.is_free_part()) {
      instances[physical_key(row)][instance_name(row.use.device)] = &row;
    }
  }
  for (GpuRow& row : gpus) {
    if (row.use.is_free_part()) settle(row, instances[physical_key(row)]);
  }
  constexpr double kRounding = 0.01;
  std::erase_if(gpus, [&](const GpuRow& row) { return row.use.is_free_part() && row.price.share < kRounding; });
}

}  // namespace rightsize::fleet
