#include "plan/limit_risk.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/candidates.h"

namespace rightsize::plan {
namespace {

bool is_at_risk(const Request& request, const Plan& plan) {
  const bool rated = request.work.kind != WorkKind::kServing || request.work.rate > RequestsPerSecond{};
  return rated && plan.resizing >= kRisky;
}

std::string late_job(const Request& request, const Plan& plan) {
  constexpr Seconds kInDays = days(3);
  // The deadline with which the slow end of this plan would be in time, in a unit that a user would write.
  const Seconds safe = *request.limits.deadline * (plan.elapsed() / plan.elapsed_at(plan.speed.high));
  const bool in_days = safe >= kInDays;
  const double shown = std::floor(10 * (in_days ? rightsize::in_days(safe) : in_hours(safe))) / 10;
  return fmt::format(
      "there is {} that it misses the deadline: at the slow end of its range it takes {}; --deadline {:g}{} leaves "
      "room",
      percent_chance(std::round(100 * plan.resizing) / 100), format_duration(plan.elapsed_at(plan.speed.high)),
      std::max(0.1, shown), in_days ? "d" : "h");
}

// "TPOT is at 99 % of its limit and ", if a limit on latency is what slower GPUs break.
std::string nearest_limit(const Request& request, const Plan& plan) {
  const PlanLimits& limits = request.limits;
  const bool tokens = plan.tpot > Seconds{};
  struct Kept {
    const char* what;
    double used;
  };
  const auto used = [](Seconds value, const std::optional<Seconds>& limit) { return limit ? value / *limit : 0.0; };
  const std::array<Kept, 3> kept = {Kept{"TPOT", tokens ? used(plan.tpot, limits.tpot) : 0},
                                    Kept{tokens ? "TTFT" : "latency", used(plan.ttft, limits.ttft)},
                                    Kept{"the latency", used(plan.answer, limits.latency)}};
  const Kept& most = *std::ranges::max_element(kept, {}, &Kept::used);
  if (most.used * plan.speed.high <= 1) return {};
  return fmt::format("{} is at {:.0f} % of its limit and ", most.what, std::floor(100 * most.used));
}

std::string short_service(const Request& request, const Plan& plan) {
  const std::string why =
      fmt::format("{}the GPU may be {:.0f} % slower than predicted: there is {} that it ", nearest_limit(request, plan),
                  100 * (plan.speed.high - 1), percent_chance(std::round(100 * plan.resizing) / 100));
  const int then = plan.machines_if_slow;
  const std::string cost = format_usd(plan.cost * (static_cast<double>(then) / plan.machines));
  if (plan.misses_if_slow && then > plan.machines)
    return fmt::format("{}needs more machines than your limits allow ({} machines, {}/month)", why, then, cost);
  if (plan.misses_if_slow) return why + "misses your limits, whatever the number of machines: load-test it first";
  if (!plan.interval_known || !(plan.cost_high > plan.cost)) return why + "needs more machines to meet your limits";
  return fmt::format("{}needs more machines to meet your limits, up to {}/month", why, format_usd(plan.cost_high));
}

}  // namespace

std::string percent_chance(double share) {
  const std::string percent = format_percent(Ratio::fraction(share));
  const std::string whole = percent.substr(0, percent.find_first_not_of("0123456789"));
  const bool vowel = whole.starts_with('8') || whole == "11" || whole == "18";
  return fmt::format("{} {} chance", vowel ? "an" : "a", percent);
}

std::string limit_risk(const Request& request, const Plan& plan) {
  if (!is_at_risk(request, plan)) return {};
  return request.work.kind == WorkKind::kServing ? short_service(request, plan) : late_job(request, plan);
}

std::string risk_in_short(const Request& request, const Plan& plan) {
  if (!is_at_risk(request, plan)) return {};
  const bool service = request.work.kind == WorkKind::kServing;
  return fmt::format(" There is {} that it {}.", percent_chance(std::round(100 * plan.resizing) / 100),
                     !service                                ? "misses the deadline"
                     : !plan.misses_if_slow                  ? "needs more machines to meet your limits"
                     : plan.machines_if_slow > plan.machines ? "needs more machines than your limits allow"
                                                             : "misses your limits");
}

}  // namespace rightsize::plan
