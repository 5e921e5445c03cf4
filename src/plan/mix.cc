#include "plan/mix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "capacity/assessment.h"
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

// How many machines of a kind are available: owned ones are limited.
double most_of(const PricedOption& kind) {
  return kind.machines->most_machines > 0 ? kind.machines->most_machines : 4096;
}

double hourly(const PricedOption& kind) { return in_usd_per_machine_hour(kind.offer->rate()); }

// Dollars per hour for the whole load with fractional machines.
double fractional_cost(const PricedOption& kind, const std::vector<double>& rates) {
  double machines = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) machines += rates[i] / kind.option->machine_takes[i];
  return machines * hourly(kind);
}

// The cheapest offer of each machine and settings. Drops kinds that cost over twice the best even with fractional
// machines and are no smaller: they cannot be part of a cheaper mix.
std::vector<const PricedOption*> useful_kinds(const std::vector<PricedOption>& kinds,
                                              const std::vector<double>& rates) {
  std::vector<const PricedOption*> useful;
  double best = 1e300;
  for (const PricedOption& kind : kinds) best = std::min(best, fractional_cost(kind, rates));
  for (const PricedOption& kind : kinds) {
    const bool whole = kind.option->machines_each == 1;  // a replica that spans several machines needs all of them
    // One service in two clouds or regions is too much to operate for a few percent.
    const catalog::Price &here = *kind.offer->price, &first = *kinds.front().offer->price;
    const bool same_place = here.provider == first.provider && here.region == first.region;
    if (!whole || !same_place || fractional_cost(kind, rates) > 2 * best) continue;
    const auto same = std::find_if(useful.begin(), useful.end(),
                                   [&](const PricedOption* known) { return known->option == kind.option; });
    if (same == useful.end())
      useful.push_back(&kind);
    else if (hourly(kind) < hourly(**same))
      *same = &kind;
  }
  return useful;
}

// A lower bound: every request size on its cheapest machines, with fractional machines.
double least_cost(const std::vector<const PricedOption*>& useful, const std::vector<double>& rates) {
  double sum = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const PricedOption* kind : useful)
      least = std::min(least, rates[i] / kind->option->machine_takes[i] * hourly(*kind));
    sum += least;
  }
  return sum;
}

// Requires that the others still carry the load if one machine of any kind in use is lost. `taken` is 1 for kinds in
// use.
void add_spare(const Request& request, const std::vector<const PricedOption*>& useful, const std::vector<int>& number,
               solve::Model& model) {
  if (request.limits.allow_single) return;
  const double needed = in_requests_per_s(request.work.rate) / capacity::kLoadAfterLoss;
  for (std::size_t j = 0; j < useful.size(); ++j) {
    const int taken = model.add_column(0, 0, 1, true);
    const int any = model.add_row(-solve::kInfinity, 0);
    model.add_entry(any, number[j], 1);
    model.add_entry(any, taken, -most_of(*useful[j]));
    const int left = model.add_row(needed, solve::kInfinity);
    for (std::size_t k = 0; k < useful.size(); ++k) {
      const Option& option = *useful[k]->option;
      model.add_entry(left, number[k], option.replicas_each * option.replica_takes);
    }
    model.add_entry(left, taken, -useful[j]->option->replicas_each * useful[j]->option->replica_takes);
  }
}

}  // namespace

std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<PricedOption>& kinds) {
  const std::vector<double> rates = rates_by_size(request);
  if (kinds.empty() || !(request.work.rate > RequestsPerSecond{}) || request.limits.gpus) return {};
  const std::vector<const PricedOption*> useful = useful_kinds(kinds, rates);
  constexpr double kWorthIt = 0.95;  // two kinds of machines are more work to operate
  const double alone = hourly(kinds.front()) * kinds.front().option->machines;
  if (useful.size() < 2 || least_cost(useful, rates) > alone * kWorthIt) return {};

  // n machines of kind j; x requests per second of size i on kind j. x_ij / takes_ij machines' time each.
  solve::Model model;
  std::vector<int> number, load;
  for (const PricedOption* kind : useful) number.push_back(model.add_column(hourly(*kind), 0, most_of(*kind), true));
  for (double rate : rates) {
    const int served = model.add_row(rate, rate);
    for (std::size_t j = 0; j < useful.size(); ++j) {
      load.push_back(model.add_column(0, 0, rate, false));
      model.add_entry(served, load.back(), 1);
    }
  }
  add_spare(request, useful, number, model);
  const int all_gpus = model.add_row(-solve::kInfinity, request.limits.max_gpus);
  for (std::size_t j = 0; j < useful.size(); ++j) {
    const int busy = model.add_row(-solve::kInfinity, 0);
    for (std::size_t i = 0; i < rates.size(); ++i)
      model.add_entry(busy, load[i * useful.size() + j], 1 / useful[j]->option->machine_takes[i]);
    model.add_entry(busy, number[j], -1);
    model.add_entry(all_gpus, number[j], useful[j]->machines->gpus);
  }
  // Without a solver there is no mix; the plans with one kind of machine remain.
  const solve::Solution solution =
      solve::solve(model, {.nodes = 5000, .seconds = 60, .relative_gap = 1e-4}).value_or(solve::Solution{});
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
