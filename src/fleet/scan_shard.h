// One shard of a fleet, asked for and put together.
#pragma once

#include <vector>

#include "base/result.h"
#include "fleet/asker.h"
#include "fleet/promql.h"
#include "fleet/use.h"
#include "telemetry/feeds/interpret.h"

namespace rightsize::fleet {

struct ShardFrame {
  const QueryFrame& query;
  const Sources& sources;
  Metric activity;
  const telemetry::NameMap& names;
  double from = 0, until = 0;
};

// The use of every GPU of the shard. Fails when a question all others rest on (how many readings there are, how active
// they were) is not answered; what else is not answered stays missing.
Result<std::vector<GpuUse>> scan_shard(Asker& asker, const Shard& shard, const ShardFrame& frame);

// One GPU reading by reading, a day at a time.
Result<GpuUse> read_raw(Asker& asker, const Device& device, const ShardFrame& frame, const LabelNames& labels);

}  // namespace rightsize::fleet
