#include "decisions/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

namespace rightsize::decisions {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// A price is not a random sample: the last one counts, within 0.5 % for rounding in bills.
JudgedMetric judge_price(JudgedMetric v, const std::vector<double>& values) {
  constexpr double kRounding = 0.005;
  const double off = values.back() / v.prediction.value.likely - 1;
  v.outcome = off > kRounding ? Judgement::kBroken : Judgement::kKept;
  v.better = off < -kRounding;
  return v;
}

// Each sample covers every request, or all GPU-hours, of a window, so the last one counts.
JudgedMetric judge_window(JudgedMetric v, const std::vector<double>& values) {
  const PredictedRange& predicted = v.prediction.value;
  v.measured.count = static_cast<std::int64_t>(values.size());  // a share of 0 counts, too
  v.measured.typical = v.measured.low = v.measured.high = values.back();
  if (!predicted.high) {
    v.reason = "the plan gives no interval ('decide --tolerance' sets one)";
    return v;
  }
  v.outcome = values.back() > *predicted.high ? Judgement::kBroken : Judgement::kKept;
  v.better = predicted.low && values.back() < *predicted.low;
  return v;
}

// A peak is judged by the highest sample.
JudgedMetric judge_peak(JudgedMetric v, const std::vector<double>& values) {
  const std::optional<double> limit = v.prediction.value.high ? v.prediction.value.high : v.prediction.limit;
  if (!limit) {
    v.reason = "the plan gives neither an interval nor a limit";
    return v;
  }
  const double worst = *std::ranges::max_element(values);
  v.measured.typical = worst;
  v.measured.low = v.measured.high = worst;
  if (worst > *limit) {
    v.outcome = Judgement::kBroken;
    return v;
  }
  v.better = v.prediction.value.low && worst < *v.prediction.value.low;
  const auto count = static_cast<std::int64_t>(values.size());
  if (count >= kEnoughPeaks)
    v.outcome = Judgement::kKept;
  else
    v.more = kEnoughPeaks - count;
  return v;
}

// A mean, by the sequential test.
JudgedMetric judge_mean(JudgedMetric v) {
  const PredictedRange& predicted = v.prediction.value;
  const bool above = v.prediction.info().worse == Worse::kAbove;
  const std::optional<double> bad = above ? (predicted.high ? predicted.high : v.prediction.limit) : predicted.low;
  const std::optional<double> good = above ? predicted.low : predicted.high;
  if (!bad || !(*bad > 0)) {
    v.reason = "the plan gives no interval ('decide --tolerance' sets one)";
    return v;
  }
  const ConfidenceSequence& s = v.measured;
  const bool broken = above ? s.low > *bad : s.high < *bad;
  const bool kept = above ? s.high <= *bad : s.low >= *bad;
  v.better = good && (above ? s.high < *good : s.low > *good);
  if (broken) v.outcome = Judgement::kBroken;
  if (kept) v.outcome = Judgement::kKept;
  if (broken || kept) return v;
  constexpr std::int64_t kFewest = 5;  // with fewer, the interval is unbounded
  const std::optional<std::int64_t> wanted =
      s.count < 2 ? std::optional(kFewest) : samples_to_tell(s.deviation, std::abs(s.mean - std::log(*bad)));
  if (wanted)
    v.more = std::max<std::int64_t>(1, *wanted - s.count);
  else
    v.reason = "the mean equals the end of the interval, so more samples will not decide";
  return v;
}

// Samples from a histogram may all be off in the same direction, so no number of samples narrows the interval below the
// bucket width.
void add_buckets(ConfidenceSequence& s, const std::vector<MeasuredValue>& samples, std::string_view metric) {
  double low = 0, high = 0;
  std::int64_t count = 0;
  for (const MeasuredValue& sample : samples) {
    const std::optional<Bucket> bucket = sample.metric == metric ? bucket_of(sample) : std::nullopt;
    if (!bucket || !(sample.value > 0)) continue;
    // Logarithms, as in the sequence; a bucket that begins at 0 has no logarithm.
    low += std::log(std::max(bucket->low, sample.value * 0.01) / sample.value);
    high += std::log(std::max(bucket->high, sample.value) / sample.value);
    ++count;
  }
  if (count == 0) return;
  s.low *= std::exp(low / static_cast<double>(s.count));
  s.high *= std::exp(high / static_cast<double>(s.count));
}

std::optional<double> likely(const Decision& decision, std::string_view metric) {
  const PredictedMetric* found = decision.find(metric);
  return found == nullptr ? std::nullopt : std::optional(found->value.likely);
}

std::optional<MeasuredCost> cost_of_month(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  const std::vector<double> rates = values_of(samples, kRate), used = values_of(samples, kGpuHours);
  const std::optional<double> expected = likely(decision, kGpuHours);
  if (rates.empty() && !used.empty() && decision.cost && expected && *expected > 0)
    return MeasuredCost{decision.cost->likely * (used.back() / *expected),
                        "the measured GPU-hours at the predicted price"};
  if (rates.empty()) return std::nullopt;
  return MeasuredCost{usd_per_hour(rates.back()) * kMonth, "the measured price of the machines, all month"};
}

// The hours of a run (measured, or predicted at the measured speed) times the price of the machines.
std::optional<MeasuredCost> cost_of_run(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  const std::vector<double> rates = values_of(samples, kRate), times = values_of(samples, kHours);
  const std::optional<double> rate = rates.empty() ? likely(decision, kRate) : std::optional(rates.back());
  if (!rate) return std::nullopt;
  const std::string price = rates.empty() ? "the predicted price" : "the measured price";
  if (!times.empty()) return MeasuredCost{usd_per_hour(*rate) * hours(mean_of(times)), "measured hours at " + price};
  const std::optional<double> expected = likely(decision, kHours);
  for (const char* metric : {kTokens, kSamples, kRequests}) {
    const std::vector<double> speeds = values_of(samples, metric);
    const std::optional<double> predicted = likely(decision, metric);
    if (speeds.empty() || !predicted || !expected || mean_of(speeds) <= 0) continue;
    return MeasuredCost{usd_per_hour(*rate) * hours(*expected * *predicted / mean_of(speeds)),
                        "predicted hours at the measured speed and " + price};
  }
  return std::nullopt;
}

std::optional<MeasuredCost> measured_cost(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  if (const std::vector<double> bills = values_of(samples, kUsd); !bills.empty())
    return MeasuredCost{usd(mean_of(bills)), fmt::format("the mean of {} bills", bills.size())};
  return decision.summary.per == Per::kMonth ? cost_of_month(decision, samples) : cost_of_run(decision, samples);
}

double runs_in(const std::vector<MeasuredValue>& samples) {
  const std::vector<double> given = values_of(samples, kRuns);
  if (!given.empty()) return std::accumulate(given.begin(), given.end(), 0.0);
  return static_cast<double>(std::max(values_of(samples, kHours).size(), values_of(samples, kUsd).size()));
}

}  // namespace

std::string with_bucket(const std::string& source, const Bucket& bucket) {
  return fmt::format("{} [{}, {}]", source, bucket.low, bucket.high);
}

std::optional<Bucket> bucket_of(const MeasuredValue& sample) {
  const std::string& text = sample.source;
  const std::size_t open = text.rfind(" ["), comma = text.rfind(", ");
  if (!text.ends_with(']') || open == std::string::npos || comma == std::string::npos || comma < open)
    return std::nullopt;
  const double low = std::strtod(text.c_str() + open + 2, nullptr),
               high = std::strtod(text.c_str() + comma + 2, nullptr);
  return low < high ? std::optional(Bucket{low, high}) : std::nullopt;
}

std::string_view name_of(Judgement outcome) {
  static constexpr std::string_view kNames[] = {"kept", "broken", "inconclusive"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::vector<double> values_of(const std::vector<MeasuredValue>& samples, std::string_view metric) {
  std::vector<double> values;
  for (const MeasuredValue& sample : samples) {
    if (sample.metric == metric) values.push_back(sample.value);
  }
  return values;
}

JudgedMetric judge(const PredictedMetric& prediction, const std::vector<MeasuredValue>& samples) {
  JudgedMetric v;
  v.prediction = prediction;
  const std::vector<double> values = values_of(samples, prediction.metric);
  v.measured = sequence_of(values);
  add_buckets(v.measured, samples, prediction.metric);
  if (values.empty()) {
    v.reason = "not measured";
    return v;
  }
  if (prediction.metric == kRate) return judge_price(std::move(v), values);
  if (prediction.metric == kOverSlo || prediction.metric == kGpuHours) return judge_window(std::move(v), values);
  if (prediction.metric == kMemory) return judge_peak(std::move(v), values);
  return judge_mean(std::move(v));
}

Verification verify(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Verification found;
  bool speed = false, all = true, any_broken = false;
  for (const PredictedMetric& prediction : decision.predictions) {
    JudgedMetric v = judge(prediction, samples);
    if (v.measured.count > 0) {
      any_broken = any_broken || v.outcome == Judgement::kBroken;
      // A prediction without an interval cannot be judged.
      const bool judged = v.outcome != Judgement::kInconclusive || v.more.has_value();
      all = all && (v.outcome == Judgement::kKept || !judged);
      speed = speed || (prediction.info().speed && v.outcome == Judgement::kKept);
    }
    found.metrics.push_back(std::move(v));
  }
  const std::vector<double> ooms = values_of(samples, kOom);
  if (std::ranges::any_of(ooms, [](double count) { return count > 0; })) any_broken = true;
  found.outcome = any_broken ? Judgement::kBroken : speed && all ? Judgement::kKept : Judgement::kInconclusive;
  found.cost = measured_cost(decision, samples);
  if (found.cost && decision.summary.before) found.saved = *decision.summary.before - found.cost->cost;
  found.runs = runs_in(samples);
  return found;
}

}  // namespace rightsize::decisions
