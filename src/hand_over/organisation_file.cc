#include "hand_over/organisation_file.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"
#include "hand_over/template.h"

namespace rightsize::hand_over {
namespace {

constexpr std::size_t kHours = 24;

std::string commented(const std::string& comment) { return comment.empty() ? "" : "   # " + comment; }

// Parts of the day in which no option differs.
struct Blocks {
  std::vector<std::vector<std::size_t>> hours;  // of each block

  explicit Blocks(const OrganisationFile& file) {
    std::map<std::vector<int>, std::size_t> known;
    for (std::size_t hour = 0; hour < kHours; ++hour) {
      std::vector<int> needs;
      for (const auto& workload : file.workloads) {
        for (const auto& option : workload.options) {
          if (option.gpus.size() == kHours) needs.push_back(option.gpus[hour]);
        }
      }
      const std::size_t block = known.try_emplace(std::move(needs), hours.size()).first->second;
      if (block == hours.size()) hours.emplace_back();
      hours[block].push_back(hour);
    }
  }

  std::string name(std::size_t block) const { return fmt::format("h{:02}", hours[block].front()); }

  std::string text() const {
    if (hours.size() == 1) return {};
    std::string made = "blocks:   # hours of the day (UTC) with the same needs\n";
    for (std::size_t b = 0; b < hours.size(); ++b)
      made += fmt::format("  - {{name: {}, hours: {:.2f}}}   # {}\n", name(b),
                          in_hours(kMonth) * static_cast<double>(hours[b].size()) / kHours, fmt::join(hours[b], ", "));
    return made;
  }

  std::string gpus(const std::vector<int>& by_hour) const {
    if (std::ranges::adjacent_find(by_hour, std::not_equal_to<>()) == by_hour.end())
      return fmt::format("{}", by_hour.front());
    std::vector<std::string> parts;
    for (std::size_t b = 0; b < hours.size(); ++b)
      parts.push_back(fmt::format("{}: {}", name(b), by_hour[hours[b].front()]));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
};

std::string pool_text(const OrganisationFile::Pool& pool) {
  std::string text = fmt::format("  - {{name: {}, gpu: {}", double_quoted(pool.name), pool.gpu);
  if (pool.usd_per_gpu_hour)
    text += fmt::format(", usd_per_gpu_hour: {:.4f}", *pool.usd_per_gpu_hour);
  else
    text += ", quota: 0";
  text += fmt::format(", gpus_per_machine: {}", pool.gpus_per_machine);
  if (pool.reserved > 0)
    text += fmt::format(", reserved: {}, reserved_usd_per_month: {:.2f}", pool.reserved, pool.reserved_usd);
  if (pool.mig) text += ", mig: true";
  if (!pool.region.empty()) text += fmt::format(", region: {}", double_quoted(pool.region));
  return text + "}" + commented(pool.comment) + "\n";
}

std::string option_text(const OrganisationFile::Option& option, const Blocks& blocks) {
  std::string text = fmt::format("      - {{where: {}", double_quoted(option.where));
  if (!option.gpus.empty()) text += fmt::format(", gpus: {}", blocks.gpus(option.gpus));
  if (!option.slices.empty()) text += fmt::format(", needs: {{{}}}", option.slices);
  if (option.usd) text += fmt::format(", usd_per_month: {:.2f}", *option.usd);
  if (!option.how.empty()) text += ", how: " + option.how;
  return text + "}" + commented(option.comment) + "\n";
}

std::string workload_text(const OrganisationFile::Workload& workload, const Blocks& blocks) {
  std::string text = fmt::format("  - name: {}{}\n", double_quoted(workload.name), commented(workload.comment));
  if (!workload.team.empty()) text += fmt::format("    team: {}\n", double_quoted(workload.team));
  if (!workload.small.empty()) return text + fmt::format("    small: {{{}}}\n", workload.small);
  text += "    now: 0\n    options:\n";
  for (const auto& option : workload.options) text += option_text(option, blocks);
  return text;
}

}  // namespace

std::string write_organisation(const OrganisationFile& file) {
  const Blocks blocks(file);
  std::string text;
  for (const std::string& comment : file.comments) text += "# " + comment + "\n";
  text += blocks.text() + "pools:\n";
  for (const auto& pool : file.pools) text += pool_text(pool);
  text += "workloads:\n";
  for (const auto& workload : file.workloads) text += workload_text(workload, blocks);
  return text;
}

}  // namespace rightsize::hand_over
