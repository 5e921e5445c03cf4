#include "decisions/decision.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace rightsize::decisions {
namespace {

struct MetricSide {
  const char* metric;
  Worse worse;
};
constexpr MetricSide kMetrics[] = {
    {kTokens, Worse::kBelow}, {kSamples, Worse::kBelow},     {kRequests, Worse::kBelow}, {kHours, Worse::kAbove},
    {kTtft, Worse::kAbove},   {kTpot, Worse::kAbove},        {kLatency, Worse::kAbove},  {kMemory, Worse::kAbove},
    {kRate, Worse::kAbove},   {kUtilization, Worse::kAbove},
};

constexpr std::string_view kStatusNames[] = {"decided", "rolling-out", "in-force", "rolled-back", "superseded"};
constexpr std::string_view kPerNames[] = {"month", "run"};

template <class Enum, std::size_t Size>
std::optional<Enum> find_name(const std::string_view (&names)[Size], std::string_view name) {
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

}  // namespace

std::optional<Worse> worse_side(std::string_view metric) {
  for (const MetricSide& known : kMetrics) {
    if (metric == known.metric) return known.worse;
  }
  return std::nullopt;
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const MetricSide& known : kMetrics) all.emplace_back(known.metric);
    return all;
  }();
  return kNames;
}

std::string_view name_of(Status status) { return kStatusNames[static_cast<std::size_t>(status)]; }
std::optional<Status> parse_status(std::string_view name) { return find_name<Status>(kStatusNames, name); }
std::string_view name_of(Per per) { return kPerNames[static_cast<std::size_t>(per)]; }
std::optional<Per> parse_per(std::string_view name) { return find_name<Per>(kPerNames, name); }

const Prediction* Decision::find(std::string_view metric) const {
  const auto found = std::find_if(predictions.begin(), predictions.end(),
                                  [&](const Prediction& prediction) { return prediction.metric == metric; });
  return found == predictions.end() ? nullptr : &*found;
}

std::string label(std::int64_t id) { return fmt::format("D{}", id); }

}  // namespace rightsize::decisions
