#include "scores.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rightsize::fit {

Score score_of(const Outcomes& outcomes, const std::string& metric) {
  std::vector<double> errors, sizes, logs;
  double inside = 0;
  for (const Outcome& outcome : outcomes) {
    if (!metric.empty() && outcome.metric != metric) continue;
    errors.push_back(std::exp(outcome.log_error) - 1);
    sizes.push_back(std::abs(errors.back()));
    logs.push_back(std::abs(outcome.log_error));
    inside += outcome.inside ? 1 : 0;
  }
  Score score;
  score.n = static_cast<int>(errors.size());
  if (errors.empty()) return score;
  for (auto* list : {&errors, &sizes, &logs}) std::sort(list->begin(), list->end());
  for (double size : sizes) score.mean += size / static_cast<double>(sizes.size());
  score.median = sizes[sizes.size() / 2];
  score.bias = errors[errors.size() / 2];
  score.inside = inside / static_cast<double>(errors.size());
  score.width = logs[static_cast<std::size_t>(0.8 * static_cast<double>(logs.size()))];
  return score;
}

std::string percents(const Score& score) {
  if (score.n == 0) return fmt::format("{:>6} {:>6} {:>6}", "-", "-", "-");
  return fmt::format("{:6.1f} {:6.1f} {:+6.1f}", 100 * score.mean, 100 * score.median, 100 * score.bias);
}

}  // namespace rightsize::fit
