// Which series of GPUs a shard has, how often they are read, and where a row of an answer belongs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/scan_shard.h"
#include "fleet/shard_cells.h"

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
  // Answers grouped by fewer labels than a series has belong to a GPU or a part as a whole: then the rest is null. All
  // is null for GPUs that are not known, or not in `wanted` (null: all are).
  Place place_of(const telemetry::Labels& labels, const std::set<std::string>* wanted);

  // Notes a series and how many readings it has.
  void add(Metric metric, const VectorRow& row, const std::string& shard_label);

  std::map<std::string, GpuCells> gpus;  // by Device::key() of the whole GPU
  std::set<std::string> heard;           // values of the shard's label that series have

 private:
  using Readings = std::map<std::pair<Owner, std::string>, double>;  // by owner and host

  const telemetry::NameMap& names_;
  std::map<std::tuple<const GpuCells*, const PartCells*, Metric>, Readings> readings_;
};

// Asks which series there are, how often they are read, and whether they have values that cannot be.
Answered<bool> discover(PrometheusClient& client, const Shard& shard, const ShardFrame& frame, ShardSeries& into);

// GPUs that are read about equally often, and alike in what has to be asked of them.
struct GpuClass {
  Grain grain;
  std::set<std::string> gpus;  // keys of ShardSeries::gpus
};
std::vector<GpuClass> classes_of(ShardSeries& series, const Shard& shard);

}  // namespace rightsize::fleet
