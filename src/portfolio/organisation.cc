#include "portfolio/organisation.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::portfolio {
namespace {

// "eu" includes "eu-west-1".
bool is_within(std::string_view region, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [&](const std::string& name) {
    return region == name || (region.starts_with(name) && region[name.size()] == '-');
  });
}

bool meets_rules(const Organisation& organisation, const Workload& w, const Option& option) {
  const std::string& region =
      option.in_pool() ? organisation.pools[static_cast<std::size_t>(option.pool)].region : option.region;
  if (!w.regions.empty() && !is_within(region, w.regions)) return false;
  if (w.blocks.empty() || !option.in_pool()) return true;
  for (std::size_t b = 0; b < organisation.blocks.size(); ++b) {
    const bool runs = !option.needs.empty() || option.gpus[b] > 0;
    if (runs && std::ranges::find(w.blocks, organisation.blocks[b].name) == w.blocks.end()) return false;
  }
  return true;
}

}  // namespace

bool Workload::allows(int option) const { return !std::ranges::binary_search(dropped, option); }

Result<> apply_rules(const Organisation& organisation, Workload& workload) {
  workload.dropped.clear();
  for (std::size_t i = 0; i < workload.options.size(); ++i) {
    if (!meets_rules(organisation, workload, workload.options[i])) workload.dropped.push_back(static_cast<int>(i));
  }
  if (workload.dropped.size() < workload.options.size()) return {};
  return fail(bad_input(fmt::format("no option of '{}' is within its regions and blocks", workload.name)));
}

Option Organisation::in_pool(std::size_t pool, How how) const {
  Option option;
  option.where = pools[pool].name, option.pool = static_cast<int>(pool), option.how = how;
  option.gpus.assign(blocks.size(), 0);
  return option;
}

double Organisation::month_hours() const {
  double hours = 0;
  for (const Block& block : blocks) hours += block.hours;
  return hours;
}

double Organisation::reserved_usd() const {
  double sum = 0;
  for (const Pool& pool : pools) sum += pool.reserved_usd;
  return sum;
}

std::string needs_of(const Organisation& organisation, const Option& option) {
  if (!option.in_pool()) return option.takes;
  std::vector<std::string> parts;
  const auto count = [](int gpus) { return fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"); };
  const std::vector<int>& gpus = option.gpus;
  constexpr std::size_t kMostListed = 3;
  if (std::ranges::adjacent_find(gpus, std::not_equal_to<>()) == gpus.end()) {
    if (gpus.front() > 0) parts.push_back(count(gpus.front()));
  } else if (gpus.size() <= kMostListed) {
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      if (gpus[b] == 0) continue;
      parts.push_back(
          fmt::format("{} {}", parts.empty() ? count(gpus[b]) : std::to_string(gpus[b]), organisation.blocks[b].name));
    }
  } else {
    parts.push_back(fmt::format("{} to {}", std::ranges::min(gpus), count(std::ranges::max(gpus))));
  }
  const Pool& pool = organisation.pools[static_cast<std::size_t>(option.pool)];
  for (std::size_t i = 0; i < option.needs.size(); ++i) {
    if (option.needs[i] > 0)
      parts.push_back(
          fmt::format("{}x {}", option.needs[i], pool.geometry->profile(pool.geometry->plain_profiles()[i]).profile));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace rightsize::portfolio
