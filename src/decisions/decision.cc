#include "decisions/decision.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace rightsize::decisions {
namespace {

constexpr std::string_view kStatusNames[] = {"decided", "rolling-out", "in-force", "rolled-back", "superseded"};
constexpr std::string_view kPerNames[] = {"month", "run"};

template <class Enum, std::size_t Size>
std::optional<Enum> find_name(const std::string_view (&names)[Size], std::string_view name) {
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

}  // namespace

std::string_view name_of(DecisionStatus status) { return kStatusNames[static_cast<std::size_t>(status)]; }
std::optional<DecisionStatus> parse_status(std::string_view name) {
  return find_name<DecisionStatus>(kStatusNames, name);
}
std::string_view name_of(Per per) { return kPerNames[static_cast<std::size_t>(per)]; }
std::optional<Per> parse_per(std::string_view name) { return find_name<Per>(kPerNames, name); }

const PredictedMetric* Decision::find(std::string_view metric) const {
  const auto found = std::find_if(predictions.begin(), predictions.end(),
                                  [&](const PredictedMetric& prediction) { return prediction.metric == metric; });
  return found == predictions.end() ? nullptr : &*found;
}

std::string label(std::int64_t id) { return fmt::format("D{}", id); }

}  // namespace rightsize::decisions
