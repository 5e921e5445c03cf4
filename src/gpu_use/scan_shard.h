// The use of one shard of a fleet, from a metrics server.
#pragma once

#include <vector>

#include "gpu_use/account_cells.h"
#include "gpu_use/prometheus_client.h"
#include "gpu_use/promql.h"
#include "gpu_use/scan.h"
#include "gpu_use/use.h"

namespace rightsize::gpu_use {

struct ShardFrame {
  const ServerOptions& options;  // its matchers, names, interval and idle rule
  const Sources& sources;
  StepAxis axis;
};

struct ShardAnswer {
  std::vector<GpuUse> gpus;
  std::vector<std::string> silent;  // values of the shard's label for which the server has no reading
};

// The use of every GPU of the shard. Fails if an essential query (existing readings, presence, owners, activity) is not
// answered; any other missing answer leaves its values missing. A query for too long a period is split into shorter
// ones, which does not change the result.
Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame);

}  // namespace rightsize::gpu_use
