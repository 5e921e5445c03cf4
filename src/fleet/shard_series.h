// The series of a shard's GPUs, how often they are read, and which GPU a row of an answer is about.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/account_cells.h"
#include "fleet/scan_shard.h"

namespace rightsize::fleet {

class ShardSeries {
 public:
  // The names must outlive it.
  explicit ShardSeries(const telemetry::NameMap& names) : names_(names) {}

  struct Place {
    GpuCells* gpu = nullptr;
    PartCells* part = nullptr;
    OwnerCells* owner = nullptr;
    Device device;
  };
  // Answers grouped by fewer labels than a series has are about a whole GPU or part; the other pointers are then null.
  // All are null for GPUs that are unknown or not in `wanted` (null: all GPUs are wanted).
  Place place_of(const telemetry::Labels& labels, const std::set<std::string>* wanted);

  // Registers a series and how many readings it has.
  void add(Metric metric, const VectorRow& row, const std::string& shard_label);

  std::map<std::string, GpuCells> gpus;  // by Device::key() of the whole GPU
  std::set<std::string> heard;           // values of the shard's label that have series

 private:
  using Readings = std::map<std::pair<Owner, std::string>, double>;  // by owner and host

  const telemetry::NameMap& names_;
  std::map<std::tuple<const GpuCells*, const PartCells*, Metric>, Readings> readings_;
};

// Asks which series there are, how often they are read, and whether some of their values are impossible.
Answered<> discover(PrometheusClient& client, const Shard& shard, const ShardFrame& frame, ShardSeries& into);

// GPUs that are read about equally often and need the same questions.
struct GpuClass {
  Grain grain;
  std::set<std::string> gpus;  // keys of ShardSeries::gpus
};
std::vector<GpuClass> classes_of(ShardSeries& series, const Shard& shard);

}  // namespace rightsize::fleet
