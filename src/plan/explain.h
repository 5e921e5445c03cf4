// Confidence in the answer, what would change it, and doubts about its price.
#pragma once

#include <map>

#include "base/date.h"
#include "plan/candidates.h"

namespace rightsize::plan {

// The probability that the first candidate's GPU is the best when the speed of every GPU varies independently within
// its error bar: 2,000 draws with a fixed seed. `kinds` are best first.
double confidence_of(const Request& request, const std::vector<PricedOption>& kinds);

// Deadlines, prices and budgets at which another plan would be first.
std::vector<Breakpoint> breakpoints_of(const Request& request, const std::vector<PricedOption>& kinds,
                                       const std::vector<PricedOption>& front);

// Doubts about a price: unconfirmed, old, or far below other regions.
std::vector<PriceWarning> price_warnings(const market::Offer& offer, const catalog::Catalog& catalog, Date today);

PlanOutline outline_of(const PricedOption& candidate);

}  // namespace rightsize::plan
