// The measurements of a decision, and whether its predictions hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/decision.h"
#include "decisions/sequential.h"

namespace rightsize::decisions {

// One measured value.
struct MeasuredValue {
  std::string metric;
  double value = 0;
  TimePoint taken_at;
  std::string source;  // "--measured", "profile run.csv", "prometheus ..."; of a histogram, with_bucket()
};

// A percentile from a histogram is only known to lie in its bucket; the source carries the bucket's ends.
struct Bucket {
  double low = 0, high = 0;
};
std::string with_bucket(const std::string& source, const Bucket& bucket);  // "prometheus ... [0.25, 0.5]"
std::optional<Bucket> bucket_of(const MeasuredValue& sample);

std::vector<double> values_of(const std::vector<MeasuredValue>& samples, std::string_view metric);

enum class Judgement { kKept, kBroken, kInconclusive };
std::string_view name_of(Judgement outcome);

// One prediction compared with its samples.
struct JudgedMetric {
  PredictedMetric prediction;
  ConfidenceSequence measured;
  Judgement outcome = Judgement::kInconclusive;
  bool better = false;                    // better than the good end of the interval
  std::optional<std::int64_t> more = {};  // samples still needed if the trend continues
  std::string reason = {};                // why it is inconclusive, if not for lack of samples
};
JudgedMetric judge(const PredictedMetric& prediction, const std::vector<MeasuredValue>& samples);

// The actual cost per month or run, and its source.
struct MeasuredCost {
  Usd cost;
  std::string method;
};

struct Verification {
  std::vector<JudgedMetric> metrics;  // those that have samples, or that decide
  Judgement outcome = Judgement::kInconclusive;
  std::optional<MeasuredCost> cost = {};
  std::optional<Usd> saved = {};  // per month or run, compared with the cost before
  double runs = 0;                // that were measured
};

// Broken if any prediction is broken; kept if all measured ones are kept, including a speed or latency.
Verification verify(const Decision& decision, const std::vector<MeasuredValue>& samples);

}  // namespace rightsize::decisions
