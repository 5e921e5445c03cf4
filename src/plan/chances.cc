// How much room a plan has to its limits, and the chance that its error bars use it up.
#include <algorithm>
#include <cmath>

#include "plan/candidates.h"

namespace rightsize::plan {

double limit_used(const Request& request, const Deployment& d) {
  double used = 0;
  if (request.work.kind != WorkKind::kServing) return used;
  if (request.limits.ttft) used = std::max(used, d.ttft / *request.limits.ttft);
  if (request.limits.tpot) used = std::max(used, d.tpot / *request.limits.tpot);
  if (request.limits.latency) used = std::max(used, d.answer / *request.limits.latency);
  return used;
}

double deviation_of(const perf::Interval& speed) {
  constexpr double kEightyPercent = 1.2816;  // standard deviations of the 80 % interval
  return std::log(speed.high) / kEightyPercent;
}

double room_of(const Request& request, const Deployment& d) {
  const double used = std::max(limit_used(request, d), d.load / request.limits.max_load);
  return used > 0 ? std::max(1.0, 1 / used) : 1e300;
}

namespace {

// The same with what the simulation of its slow end showed: it holds there, or hardly halfway to it.
double room_seen(const Request& request, const Option& option) {
  const double room = room_of(request, option), high = std::max(option.speed.high, 1 + 1e-9);
  if (!option.machines_if_slow) return room;
  const int slow = *option.machines_if_slow;
  return slow > 0 && slow <= option.machines ? std::max(room, high) : std::min(room, std::sqrt(high));
}

double chance_beyond(double room, const perf::Interval& speed) {
  const double deviation = deviation_of(speed);
  return deviation > 0 ? 0.5 * std::erfc(std::log(room) / deviation / std::sqrt(2.0)) : 0;
}

}  // namespace

double chance_of_resizing(const Request& request, const Option& option) {
  if (request.work.kind != WorkKind::kServing) return 0;
  return chance_beyond(room_seen(request, option), option.speed);
}

double chance_of_missing(const Request& request, const PricedOption& c) {
  if (request.work.kind == WorkKind::kServing) return chance_of_resizing(request, *c.option);
  if (!request.limits.deadline) return 0;
  const Seconds moving = c.time.total() - c.time.startup,
                left = *request.limits.deadline * c.day_share - c.time.startup;
  return moving > Seconds{} ? chance_beyond(std::max(1.0, left / moving), c.option->speed) : 0;
}

bool outgrows_budget(const Request& request, const Plan& plan) {
  if (request.work.kind != WorkKind::kServing || !request.limits.budget) return false;
  const double times = static_cast<double>(plan.machines_if_slow) / plan.machines;
  return times > 1 && plan.cost * times - market::sum_of(plan.draws) > *request.limits.budget;
}

// Faster: the exact need is between one group of machines less and the number found; the middle of that is scaled, or
// the load where only the spare machine decided the number. Slower than the limits allow: more by as much, and as many
// as were simulated at the slow end.
double machines_at(const Request& request, const Option& option, double factor) {
  const double now = option.machines, each = option.machines_each, least = std::min<double>(now, option.least_machines);
  const auto whole = [&](double need) { return std::max(least, each * std::ceil(need / each - 1e-9)); };
  if (factor < 1 || !option.confirmed) {
    const bool spare_decides = option.confirmed && option.machines <= option.least_machines;
    return whole((spare_decides ? now * option.load / request.limits.max_load : now - 0.5 * each) * factor);
  }
  const double room = room_seen(request, option);
  const double high = std::max(option.speed.high, 1 + 1e-9), slow = option.machines_if_slow.value_or(0);
  if (factor <= room) return now;
  if (slow <= now) return std::max(now + each, whole(now * factor / room));
  const double more = (slow - now) * std::log(factor / room) / std::log(high / room);
  return std::max(now + each, whole(now + more));
}

}  // namespace rightsize::plan
