// One shard of a fleet, asked for and put together.
#pragma once

#include <vector>

#include "fleet/prometheus_client.h"
#include "fleet/promql.h"
#include "fleet/shard_cells.h"
#include "fleet/use.h"
#include "telemetry/feeds/interpret.h"

namespace rightsize::fleet {

struct ShardFrame {
  const Sources& sources;
  const telemetry::NameMap& names;
  std::string matchers;  // the user's own, without braces: cluster="a"
  CellAxis axis;
  std::optional<Seconds> interval;  // between readings; nothing: found by looking
  IdleRule idle;
};

struct ShardAnswer {
  std::vector<GpuUse> gpus;
  std::vector<std::string> silent;  // values of the shard's label of which nothing was heard
};

// The use of every GPU of the shard. Fails when a question all others rest on (which readings there are, whether GPUs
// were there, whose they were, how active) is not answered; what else is not answered stays missing. A question about
// too much time is put again about less, which does not change what it means.
Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame);

}  // namespace rightsize::fleet
