// Why the answer is what it is: how sure, when it changes, what else could be changed.
#pragma once

#include <map>

#include "base/date.h"
#include "plan/candidates.h"

namespace rightsize::plan {

// The probability that the first candidate's GPU is the best one when every GPU's speed is off by its error bar,
// independently: 2,000 draws, the same every time. `kinds` are best first.
double confidence_of(const Request& request, const std::vector<PricedOption>& kinds);

// Deadlines, prices and budgets at which another plan would be first.
std::vector<Breakpoint> breakpoints_of(const Request& request, const std::vector<PricedOption>& kinds,
                                       const std::vector<PricedOption>& front);

// What a buyer should know about the price of a plan: nobody confirms it, it is old, or other regions ask much more.
std::vector<PriceWarning> price_warnings(const market::Offer& offer, const catalog::Catalog& catalog, Date today);

PlanOutline outline_of(const PricedOption& candidate);

}  // namespace rightsize::plan
