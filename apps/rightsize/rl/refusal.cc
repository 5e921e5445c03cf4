// Limits that a plan would meet, if none meets those given.
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/rl/plan_report.h"

namespace rightsize::app {
namespace {

// The flag that allows what was needed, rounded up.
std::string flag_for(const plan::Shortfall& s) {
  switch (s.kind) {
    case plan::Shortfall::Kind::kDeadline:
      return fmt::format("--deadline {:.1f}h", std::ceil(in_hours(s.need_time) * 10) / 10);
    case plan::Shortfall::Kind::kBudget:
      return fmt::format("--budget {:.0f}", std::ceil(in_usd(s.need_cost)));
    case plan::Shortfall::Kind::kPower:
      return fmt::format("--max-power {:.0f}W", std::ceil(in_watts(s.need_power)));
    case plan::Shortfall::Kind::kCarbon:
      return fmt::format("--max-carbon {:.4g}", s.need_kg * 1.001);
    default:
      return {};
  }
}

std::vector<RlFix> nearest_limits(const plan::Obstacles& obstacles) {
  using Stage = plan::RejectionStage;
  constexpr double kOneLimit = 1e3;  // plans that break several limits are further away
  std::vector<RlFix> fixes;
  for (const Stage stage : {Stage::kDeadline, Stage::kBudget, Stage::kPower, Stage::kCarbon}) {
    const plan::Obstacles::value_type* nearest = nullptr;
    for (const auto& obstacle : obstacles) {
      const double distance = obstacle.second.distance;
      if (obstacle.first.second != stage || distance >= kOneLimit) continue;
      if (nearest == nullptr || distance < nearest->second.distance) nearest = &obstacle;
    }
    if (nearest != nullptr) fixes.push_back({flag_for(nearest->second.nearest), nearest->first.first});
  }
  return fixes;
}

}  // namespace

std::vector<RlFix> fixes_for(const rl::RlRecommendation& found, const std::vector<RlOffer>& offers) {
  std::vector<RlFix> fixes;
  if (!found.plans.empty()) return fixes;
  for (const RlOffer& offer : offers)
    if (offer.moved != 1) fixes.push_back({offer.flags, offer.gpu});
  return fixes.empty() ? nearest_limits(found.obstacles) : fixes;
}

std::string refusal_words(const plan::PlanLimits& limits, const rl::RlRecommendation& found,
                          const std::vector<RlOffer>& offers) {
  std::string reason = fmt::format("{} layouts on up to {} GPUs were compared (--max-gpus)",
                                   format_count(found.considered), limits.max_gpus);
  if (!(found.considered > 0))
    reason = "no machine with a price fits --gpu, --provider, --region, --purchase and --max-gpus";
  for (const RlOffer& offer : offers) {
    if (offer.moved == 1) continue;
    if (offer.flags.starts_with("--max-gpus")) {
      reason = fmt::format("{} needs {} GPUs, limit {}", offer.gpu, offer.gpus, limits.max_gpus);
      break;
    }
    const bool budget = offer.flags.starts_with("--budget");
    reason =
        fmt::format("{} needs {}, limit {}", offer.gpu, budget ? format_usd(offer.cost) : format_duration(offer.time),
                    budget ? format_usd(*limits.budget) : format_duration(*limits.deadline));
    break;
  }
  std::string text = fmt::format("Nothing meets your limits: {}.", reason);
  if (!offers.empty()) {
    const RlOffer& o = offers.front();
    return text + fmt::format(" Closest, with {} ({}): {} x {} from {}, {}, done in {} for {}{}.", o.what, o.flags,
                              o.gpus, o.gpu, o.provider, o.purchase, format_duration(o.time), format_usd(o.cost),
                              o.doubt.empty() ? "" : fmt::format(" ({})", o.doubt));
  }
  for (const RlFix& fix : fixes_for(found, offers))
    text += fmt::format("\n{} would be enough, with {}.", fix.flags, fix.gpu);
  return text;
}

}  // namespace rightsize::app
