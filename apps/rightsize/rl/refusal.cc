// Limits that a plan would meet, if none meets those given.
#include <cmath>

#include <fmt/format.h>

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

}  // namespace

std::vector<RlFix> fixes_for(const plan::Obstacles& obstacles) {
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

}  // namespace rightsize::app
