// What stands beside the answer: other terms for its machines, the quota to ask for, caveats, what was assumed.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// "Spot, if you get it: ..."; what the best plan would save with machines that may be taken back. Empty where the plan
// itself is on spot, or nobody has a price.
std::string spot_sentence(const plan::Request& request, const plan::Recommendation& found);

// "Committed spend: ..."; what of the cost is drawn from it. Empty where nothing is.
std::string spend_sentence(const plan::Request& request, const plan::Plan& plan);

// "Commitment: ..."; with its whole bill and from which use on it pays. Says so where no price is known.
std::string commitment_sentence(const plan::Plan& plan);

// "Quota: ..."; empty for machines of the user's own.
std::string quota_sentence(const plan::Plan& plan);

// Those of the first plan that have something to say: spot, commitment, quota.
std::vector<std::string> terms_sentences(const plan::Request& request, const plan::Recommendation& found);

// "Cheaper, but not first: ..."; plans whose price may not decide, and why. Empty where there are none.
std::string held_back_sentence(const plan::Recommendation& found);

// "By hour: ..."; what following the traffic saves, where the rate is known by hour.
std::string hours_sentence(const plan::Plan& plan);

// What to know before acting on the first plan: its price, what was not measured, quality of its number format.
std::vector<std::string> caveats(const plan::Request& request, const plan::Recommendation& found);

// What nobody said and the answer rests on, with the flags that change it.
std::string assumptions_sentence(const plan::Request& request, const plan::Plan& plan);

// "Next best GPU: ..."; what it costs against the first plan and why, and how sure the order is.
std::string next_best_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
