// What was measured of a decision, and whether its predictions hold.
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

// One prediction against its samples.
struct JudgedMetric {
  PredictedMetric prediction;
  ConfidenceSequence measured;
  Judgement outcome = Judgement::kInconclusive;
  bool better = false;                    // than the good end of the interval
  std::optional<std::int64_t> more = {};  // samples still needed if they continue as before
  std::string reason = {};                // why it is inconclusive, where more samples are not the reason
};
JudgedMetric judge(const PredictedMetric& prediction, const std::vector<MeasuredValue>& samples);

// The actual cost of a month or a run, and how it is known.
struct MeasuredCost {
  Usd cost;
  std::string method;
};

struct Verification {
  std::vector<JudgedMetric> metrics;  // those that have samples, or that decide
  Judgement outcome = Judgement::kInconclusive;
  std::optional<MeasuredCost> cost = {};
  std::optional<Usd> saved = {};  // of a month or a run, against what it cost before
  double runs = 0;                // that were measured
};

// Broken if any prediction is; kept if all measured ones are, a speed or latency among them.
Verification verify(const Decision& decision, const std::vector<MeasuredValue>& samples);

}  // namespace rightsize::decisions
