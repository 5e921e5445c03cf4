// How the number of replicas is decided: a policy and its parameters, as users write them.
//
//   Result<Policy> policy = parse_policy("hpa:target=12,min=2,max=20,down=5m");
//
// The keys that a policy takes are rows of one table (policy.cc); reading, printing and JSON follow from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/sim_time.h"

namespace rightsize::autoscale {

using sim::SimTime;

enum class Kind { kFixed, kSchedule, kHpa, kKeda, kKnative, kDynamo, kVariant, kSkyServe };
std::string_view name_of(Kind kind);

// The metric that HPA and KEDA divide by the target.
enum class Metric { kInFlight, kWaiting, kCacheUse };
std::string_view name_of(Metric metric);

// How the Dynamo planner predicts the next interval.
enum class Predictor { kLastValue, kTrend, kSeasonal };
std::string_view name_of(Predictor predictor);

constexpr SimTime whole_seconds(std::int64_t s) { return s * 1'000'000'000; }

struct Policy {
  Kind kind = Kind::kFixed;
  int replicas = 1;                 // fixed
  int min = 1, max = 10'000;        // all other policies
  std::optional<int> initial = {};  // ready when the clock starts; empty: `min`

  double target = 0;  // of the metric, per replica; knative: requests in flight
  Metric metric = Metric::kInFlight;
  SimTime period = whole_seconds(15), down = whole_seconds(300);
  double tolerance = 0.1;
  // At most `up_most` more within `up_period`; 0: Kubernetes' default, four more or twice as many at a time.
  int up_most = 0;
  SimTime up_period = 0;
  SimTime polling = whole_seconds(30), cooldown = whole_seconds(300);  // keda

  // A plan by time of day or week: the replicas of a schedule, or the minimum that KEDA's cron triggers keep.
  SimTime every = whole_seconds(3600), lead = 0;
  std::vector<int> plan = {};
  bool repeat = false;  // begin again after the last slot, instead of staying there

  // Knative's autoscaler.
  SimTime window = whole_seconds(60);
  double panic = 2, panic_window = 0.1;  // threshold; share of the window
  SimTime grace = whole_seconds(30);

  // Dynamo's planner and SkyServe: requests per second that one replica serves within the SLO.
  double rate = 0;
  SimTime interval = whole_seconds(180);
  Predictor predictor = Predictor::kLastValue;
  SimTime season = whole_seconds(86400);
  SimTime up_delay = whole_seconds(300), down_delay = whole_seconds(1200);  // skyserve

  // llm-d's variant autoscaler.
  double kv_limit = 0.8, kv_spare = 0.1;
  double queue_limit = 5, queue_spare = 3;

  int first_replicas() const;  // ready at the start
};

// "NAME:key=value,..."; unknown names and keys, values out of range and missing keys are refused with a correction.
Result<Policy> parse_policy(std::string_view text);

// The keys of a policy and their values, defaults included, as parse_policy reads them.
std::vector<std::pair<std::string, std::string>> parameters(const Policy& policy);
// The text for this policy as parse_policy reads it; keys with default values are left out.
std::string describe(const Policy& policy);

}  // namespace rightsize::autoscale
