// What a reinforcement learning job would cost with one limit or setting changed.
#pragma once

#include <string>
#include <vector>

#include "report/fields.h"
#include "rl/search.h"

namespace rightsize::app {

// The best plan under a change of the request.
struct RlOffer {
  std::string what, flags, provider, gpu, purchase;
  int gpus = 0;
  Seconds time;
  Usd cost;
  std::string doubt;      // about the price or the speed, or the deadline; empty: none
  bool confirmed = true;  // the price may lead
  double moved = 1;       // new limit over the one that was given; 1: the change keeps the limits
};

// Other regions, other providers, spot machines, no reference model: those that cost less than `first`. Without a plan
// (null) also the budget or the deadline that is enough; confirmed prices first, then the smallest change of a limit.
std::vector<RlOffer> rl_offers(const rl::RlRequest& request, const rl::RlPlan* first, const market::PriceBook& book,
                               const perf::Constants& constants);

// "price 88 days old with one source"; empty if the price may lead.
std::string doubt_of(const market::PriceOutlook& price);

// "a 37 % chance that it misses the deadline"; empty if that is not worth mentioning.
std::string late_words(double chance);

// Where to find the first plan's machines, and the best plan of another provider or GPU; empty for the user's own.
std::string availability_line(const rl::RlRecommendation& found, const market::PriceBook& book);

// ", one step off-policy"; empty: on-policy.
std::string lateness(const rl::RlJob& job);
// Plans besides the first: the cheapest that cannot miss the deadline within its speed range, one that is much sooner,
// and the first one's machines on-policy.
std::string beside_lines(const rl::RlRecommendation& found);

// Cheaper plans with doubtful prices, a line for each, after a line break.
std::string held_back_lines(const rl::RlRecommendation& found);

// "generate 13 min 2 s, update 4 min 1 s": what a step waits for.
std::string phases_words(const rl::RlEstimate& step);

const report::Fields<RlOffer>& rl_offer_fields();

}  // namespace rightsize::app
