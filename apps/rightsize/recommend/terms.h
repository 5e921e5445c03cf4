// The answer in sentences: other terms for its machines, quota, caveats, assumptions.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// What to order, its cost and other terms; then caveats, settings and assumptions. With the table of plans they fit a
// terminal of 80 x 30. There must be a plan.
std::vector<std::string> answer_paragraphs(const plan::Request& request, const plan::Recommendation& found);

// The sentences on spot, commitment and quota of the first plan.
// What to know before acting on a plan, apart from its price.
std::vector<std::string> plan_caveats(const plan::Request& request, const plan::Plan& plan);

// How clear the choice of the GPU is: a clear winner, a close call, an extrapolation; empty where there was no choice.
std::string decision_sentence(const plan::Request& request, const plan::Recommendation& found);

// A cheaper GPU without benchmarks, and the test that would settle it; empty where no test pays.
std::string experiment_sentence(const plan::Recommendation& found);

// The changes of the request that save a tenth or more, the largest saving first; empty where there are none.
std::string levers_sentence(const plan::Request& request, const plan::Recommendation& found);

std::vector<std::string> terms_sentences(const plan::Request& request, const plan::Recommendation& found);

// "Speed: transferred from l40s, no benchmark of rtx-6000-ada."; empty where there is one.
std::string speed_sentence(const plan::Recommendation& found);

// A plan that is done much sooner for at most 3 % more; empty where there is none, and for services.
std::string sooner_sentence(const plan::Request& request, const plan::Recommendation& found);

// What the size of the plan means: a quote to ask for, or GPUs that hardly work. Empty in between.
std::string scale_sentence(const plan::Request& request, const plan::Recommendation& found);

// Of several terms that were asked for: those without a price, and the cost on those that do not lead; else empty.
std::string asked_terms_sentence(const plan::Request& request, const plan::Recommendation& found);

// A plan over 10 % cheaper whose price may not lead, why, and who can confirm it; empty where there is none.
std::string held_back_sentence(const plan::Recommendation& found);

// Why the first plan's price is in doubt although it leads: nothing with a better one meets the limits.
std::string doubt_sentence(const plan::Recommendation& found);

// "Cheaper, but ranked lower: ..."; plans of the table whose price may not lead, and why. Empty where there are none.
std::string ranked_lower_sentence(const plan::Recommendation& found);

// What the speed and the price of each plan in the table are based on.
std::string evidence_sentence(const plan::Recommendation& found);

// "no 1-year price on file for aws, azure"; empty where every provider that was asked for has one.
std::string unpriced_words(const plan::Request& request, const plan::Recommendation& found);

// The change in words, for this request: a limit on the latency of a picture is not a TTFT.
std::string change_words(const plan::Request& request, plan::RequestChangeKind kind);

// What to know before acting on the first plan: its price, missing benchmarks, quality of its number format.
std::vector<std::string> caveats(const plan::Request& request, const plan::Recommendation& found);

// "Next best GPU: ..."; how its cost compares with the first plan and why, and how certain the order is.
std::string next_best_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
