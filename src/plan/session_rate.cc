#include "plan/session_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "capacity/sessions.h"

namespace rightsize::plan {
namespace {

bool waits(const Request& request) { return request.work.sessions && request.work.trace && request.work.trace->closed; }

// Rounds to a 5 % grid: different paths to a plan must end with the same traffic.
Seconds rounded(Seconds latency) {
  const double step = std::log(1.05);
  return seconds(std::exp(std::round(std::log(in_seconds(latency)) / step) * step));
}

void set_traffic(Request& request, std::optional<Seconds> answer) {
  Work& work = request.work;
  work.trace = capacity::session_traffic(*work.sessions, {.answer = answer, .context = request.model.context});
  work.rate = *sim::mean_rate(work.trace);
  const sim::RequestShape mean = capacity::mean_of({.arrivals = work.trace});
  request.job.serve.isl = std::max<std::int64_t>(1, std::llround(mean.size));
  request.job.serve.osl = std::max<std::int64_t>(1, std::llround(mean.output));
}

}  // namespace

void forget_waiting(Request& request) {
  if (waits(request)) set_traffic(request, std::nullopt);
}

std::optional<Request> with_waiting(const Request& request, Seconds latency) {
  constexpr double kSame = 0.05;
  if (!waits(request) || !(latency > Seconds{})) return std::nullopt;
  const sim::Sessions& sessions = *request.work.sessions;
  const Seconds answer = rounded(latency);
  if (std::abs(sessions.rate(answer) / request.work.rate - 1) < kSame) return std::nullopt;
  Request changed = request;
  set_traffic(changed, answer);
  return changed;
}

Request settled(Request request, const market::PriceBook& book, const perf::Constants& constants) {
  if (!waits(request)) return request;
  settle(request, [&](const Request& asked) {
    Request quick = asked;
    quick.plans_only = true, quick.top = 1;
    Recommendation found = recommend(quick, book, constants);
    // Users wait for some plan even where the budget pays for none: the same traffic decides how much is missing.
    if (found.best() == nullptr && std::exchange(quick.limits.budget, std::nullopt))
      found = recommend(quick, book, constants);
    return found.best() == nullptr ? Seconds{} : found.best()->latency;
  });
  return request;
}

std::optional<Seconds> waiting_in(const Request& request) {
  if (!waits(request)) return std::nullopt;
  const sim::Sessions& sessions = *request.work.sessions;
  const double requests = sessions.users * std::round(sessions.fan_out);
  return seconds(requests / in_requests_per_s(request.work.rate)) - sessions.think;
}

}  // namespace rightsize::plan
