// The use of one shard of a fleet, from a metrics server.
#pragma once

#include <vector>

#include "fleet/account_cells.h"
#include "fleet/prometheus_client.h"
#include "fleet/promql.h"
#include "fleet/use.h"
#include "telemetry/feeds/interpret.h"

namespace rightsize::fleet {

struct ShardFrame {
  const Sources& sources;
  const telemetry::NameMap& names;
  std::string matchers;  // the user's own, without braces: cluster="a"
  StepAxis axis;
  std::optional<Seconds> interval;  // between readings; if not set, it is determined from the readings
  IdleRule idle;
};

struct ShardAnswer {
  std::vector<GpuUse> gpus;
  std::vector<std::string> silent;  // values of the shard's label for which the server has no reading
};

// The use of every GPU of the shard. Fails if one of the questions everything rests on (which readings there are,
// presence, owners, activity) is not answered; any other missing answer leaves its values missing. A question about
// too much time is split into shorter ones, which does not change the result.
Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame);

// Calls `ask` again if the answer is empty: in a cluster an answer can be lost without an error.
template <class Ask>
auto ask_twice(const Ask& ask) {
  auto rows = ask();
  if (rows && rows->empty()) rows = ask();
  return rows;
}

}  // namespace rightsize::fleet
