#include "plan/mix.h"

#include <algorithm>
#include <cmath>

#include "solve/mip.h"

namespace rightsize::plan {
namespace {

std::vector<double> rates_by_size(const Request& request) {
  const double all = in_requests_per_s(request.work.rate);
  std::vector<double> rates;
  for (const RequestSize& size : request.work.mix) rates.push_back(size.share * all);
  if (rates.empty()) rates.push_back(all);
  return rates;
}

double hourly(const Candidate& kind) { return in_usd_per_machine_hour(kind.offer->rate()); }

// Dollars an hour for the whole load if machines came in fractions.
double fractional_cost(const Candidate& kind, const std::vector<double>& rates) {
  double machines = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) machines += rates[i] / kind.option->machine_takes[i];
  return machines * hourly(kind);
}

// One kind each of GPU and machine, at its best terms; those that cost over twice the best even in fractions and are
// no smaller than the best cannot be part of a cheaper mix.
std::vector<const Candidate*> useful_kinds(const std::vector<Candidate>& kinds, const std::vector<double>& rates) {
  std::vector<const Candidate*> useful;
  double best = 1e300;
  for (const Candidate& kind : kinds) best = std::min(best, fractional_cost(kind, rates));
  for (const Candidate& kind : kinds) {
    if (fractional_cost(kind, rates) <= 2 * best) useful.push_back(&kind);
  }
  return useful;
}

}  // namespace

std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<Candidate>& kinds) {
  const std::vector<double> rates = rates_by_size(request);
  if (kinds.empty() || !(request.work.rate > RequestsPerSecond{}) || request.limits.gpus) return {};
  const std::vector<const Candidate*> useful = useful_kinds(kinds, rates);

  // n machines of kind j; x requests per second of size i on kind j. x_ij / takes_ij machines' time each.
  solve::Model model;
  std::vector<int> number, load;
  for (const Candidate* kind : useful) number.push_back(model.add_column(hourly(*kind), 0, 4096, true));
  for (double rate : rates) {
    const int served = model.add_row(rate, solve::kInfinity);
    for (std::size_t j = 0; j < useful.size(); ++j) {
      load.push_back(model.add_column(0, 0, rate, false));
      model.add_entry(served, load.back(), 1);
    }
  }
  const int all_gpus = model.add_row(-solve::kInfinity, request.limits.max_gpus);
  for (std::size_t j = 0; j < useful.size(); ++j) {
    const int busy = model.add_row(-solve::kInfinity, 0);
    for (std::size_t i = 0; i < rates.size(); ++i)
      model.add_entry(busy, load[i * useful.size() + j], 1 / useful[j]->option->machine_takes[i]);
    model.add_entry(busy, number[j], -1);
    model.add_entry(all_gpus, number[j], useful[j]->machines->gpus);
  }
  const solve::Solution solution =
      solve::solve(model, {.nodes = 5000, .seconds = 60, .relative_gap = 1e-4, .start = {}});
  const double alone = hourly(kinds.front()) * kinds.front().option->machines;
  constexpr double kWorthIt = 0.995;
  if (solution.values.empty() || solution.objective > alone * kWorthIt) return {};

  std::vector<MixChoice> choices;
  const double all = in_requests_per_s(request.work.rate);
  for (std::size_t j = 0; j < useful.size(); ++j) {
    const int machines = static_cast<int>(std::lround(solution.values[static_cast<std::size_t>(number[j])]));
    if (machines == 0) continue;
    double served = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
      served += solution.values[static_cast<std::size_t>(load[i * useful.size() + j])];
    choices.push_back({useful[j], machines, served / all});
  }
  return choices.size() > 1 ? choices : std::vector<MixChoice>{};
}

}  // namespace rightsize::plan
