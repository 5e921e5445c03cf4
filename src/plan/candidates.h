// Options at a price: what a user could order, within the limits, best first.
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "plan/search.h"

namespace rightsize::plan {

// An option on one offer. Points into the search's result and the classes.
struct PricedOption {
  const Option* option = nullptr;
  const MachineClass* machines = nullptr;
  const market::Offer* offer = nullptr;
  const market::PriceOutlook* price = nullptr;
  market::RunningTime time;
  Usd side_cost;
  Usd cost;
  Usd cost_low = {}, cost_high = {};  // the middle 80 %
  Usd drawn = {};                     // of the cost, from what is committed already: no new money

  // What is to be paid for it beyond what is committed already: options are compared by that.
  Usd due() const { return cost - drawn; }

  double hours() const { return in_hours(time.total()); }
  // Seconds a user waits: for the job's end, or for an answer.
  double wait(const Request& request) const;
};

// How far ahead prices are predicted before the length of the work is known: a service is paid by the month.
Seconds price_horizon(const Request& request);

// How long a price is agreed on: zero, a year, three years.
Seconds term_of(catalog::Purchase purchase);

// Bytes a training job saves: what is trained, with the optimizer's states.
Bytes checkpoint_bytes(const perf::ModelWork& work, const model::Job& job);

// Every option on every offer of its class that keeps to the limits; what does not becomes an obstacle.
std::vector<PricedOption> price_options(const Request& request, const market::PriceBook& book,
                                        const std::vector<MachineClass>& classes, const perf::ModelWork& work,
                                        const SearchResult& found, Obstacles& obstacles);

// What of the machines' bill is drawn from what is committed already.
std::vector<market::Draw> draws_of(const Request& request, const market::PriceBook& book, const PricedOption& option);

// Whether `a` is the better one. A total order: names decide between equals.
bool is_better(const Request& request, const PricedOption& a, const PricedOption& b);

// Provider, GPU and terms: of each kind one is shown.
using Kind = std::tuple<std::string_view, const catalog::Gpu*, catalog::Purchase>;
Kind kind_of(const PricedOption& option);

// The best of each kind, best first.
std::vector<PricedOption> best_of_each_kind(const Request& request, std::vector<PricedOption> candidates);

// Those no other beats in both cost and waiting, cheapest first.
std::vector<PricedOption> pareto_front(const Request& request, std::vector<PricedOption> candidates);

}  // namespace rightsize::plan
