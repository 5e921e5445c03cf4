#include <algorithm>
#include <iterator>
#include <string_view>

#include "rightsize/manual/manual.h"

namespace rightsize::app {
namespace {

// The headings of the settings table in the order of help; all others come after the GPUs.
constexpr std::string_view kHeadings[] = {"",
                                          "Model and job",
                                          "GPUs",
                                          "*",
                                          "Prices and offers",
                                          "Limits",
                                          "Assumptions",
                                          "Metrics server",
                                          "What counts as waste",
                                          "Output"};

auto rank(const std::string& heading) {
  const auto find = [](std::string_view wanted) {
    return std::find(std::begin(kHeadings), std::end(kHeadings), wanted);
  };
  const auto found = find(heading);
  return found == std::end(kHeadings) ? find("*") : found;
}

}  // namespace

void sort_into_groups(std::deque<FlagInfo>& flags) {
  constexpr std::size_t kMany = 12;
  if (flags.size() <= kMany) {
    for (FlagInfo& flag : flags) flag.group.clear();
  }
  std::ranges::stable_sort(flags, [](const FlagInfo& a, const FlagInfo& b) { return rank(a.group) < rank(b.group); });
}

}  // namespace rightsize::app
