// The sentences around the answer: other terms for its machines, quota, caveats, assumptions.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// "Spot, if available: ..."; what the best plan would save on machines that may be taken back. Empty where the plan
// itself uses spot, or there is no spot price.
std::string spot_sentence(const plan::Request& request, const plan::Recommendation& found);

// "Committed spend: ..."; the part of the cost that commitments cover. Empty where none does.
std::string spend_sentence(const plan::Request& request, const plan::Plan& plan);

// "Commitment: ..."; its total cost and the use above which it pays off, or that no price is on file.
std::string commitment_sentence(const plan::Plan& plan);

// "Quota needed: ..."; empty for machines the user owns.
std::string quota_sentence(const plan::Plan& plan);

// The sentences on spot, commitment and quota of the first plan, without empty ones.
std::vector<std::string> terms_sentences(const plan::Request& request, const plan::Recommendation& found);

// "Cheaper, but ranked lower: ..."; plans whose price may not lead, and why. Empty where there are none.
std::string held_back_sentence(const plan::Recommendation& found);

// "By hour: ..."; what scaling with the traffic saves, where the rate is known by hour.
std::string hours_sentence(const plan::Plan& plan);

// What to know before acting on the first plan: its price, missing benchmarks, quality of its number format.
std::vector<std::string> caveats(const plan::Request& request, const plan::Recommendation& found);

// What the answer assumes, with the flags that change it.
std::string assumptions_sentence(const plan::Request& request, const plan::Plan& plan);

// "Next best GPU: ..."; how its cost compares with the first plan and why, and how certain the order is.
std::string next_best_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
