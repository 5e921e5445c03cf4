// The answer in sentences: other terms for its machines, quota, caveats, assumptions.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// What to order, its cost and other terms; then caveats, settings and assumptions. Together with the table of plans
// they fit a terminal of 80 x 30. Requires a plan.
std::vector<std::string> answer_paragraphs(const plan::Request& request, const plan::Recommendation& found);

// Work that the model's context cuts; empty if it cuts hardly any.
std::string cut_work(const plan::Request& request);

// What to know before acting on a plan, apart from its price.
std::vector<std::string> plan_caveats(const plan::Request& request, const plan::Plan& plan);

// How clear the choice of the GPU is: a clear winner, a close call, an extrapolation; empty if there was no choice.
std::string decision_sentence(const plan::Request& request, const plan::Recommendation& found);

// A cheaper GPU without benchmarks, and the test that would settle it; empty if no test pays off.
std::string experiment_sentence(const plan::Request& request, const plan::Recommendation& found);

// Changes to the request that save at least 10 %, largest saving first; empty if there are none.
std::string levers_sentence(const plan::Request& request, const plan::Recommendation& found);

// Whether a job uses less than a third of a commitment, which is paid to its end: list prices of commitments are at
// most two thirds lower.
bool is_short_for(const plan::Request& request, const plan::Plan& job, Seconds term);

std::vector<std::string> terms_sentences(const plan::Request& request, const plan::Recommendation& found);

// A plan that finishes much sooner for at most 5 % more; empty for services and if there is none.
std::string sooner_sentence(const plan::Request& request, const plan::Recommendation& found);

// If the first plan can miss a limit on time within its speed range: the cheapest plan that cannot; else empty.
std::string safer_sentence(const plan::Request& request, const plan::Recommendation& found);

// Advice about very large plans (ask for a quote) and very small ones (nearly idle GPUs); otherwise empty.
std::string scale_sentence(const plan::Request& request, const plan::Recommendation& found);

// Of several terms that were asked for: those without a price, and the cost on those that do not lead; else empty.
std::string asked_terms_sentence(const plan::Request& request, const plan::Recommendation& found);

// A plan over 10 % cheaper whose price may not lead, why, and who can confirm it; empty where there is none.
std::string held_back_sentence(const plan::Recommendation& found);

// Why the first plan leads despite a doubtful price: no plan with a better price meets the limits.
std::string doubt_sentence(const plan::Recommendation& found);

// "Cheaper, but ranked lower: plan 2 (no benchmark)."; all plans of the table that cost less than the first, with the
// reason. Empty if there are none.
std::string ranked_lower_sentence(const plan::Request& request, const plan::Recommendation& found);

// What the user did not set and the answer depends on, each with its flag; without a plan, what decides that nothing
// meets the limits.
std::vector<std::string> assumptions(const plan::Request& request, const plan::Plan* plan);

// "h200-sxm needs $94,608, limit $90,000": the GPU that comes closest to the limits; empty if none was considered.
std::string nearest_miss(const plan::Recommendation& found);

// The evidence for the speed and the price of each plan in the table.
std::string evidence_sentence(const plan::Recommendation& found);

// "no 1-year price on file for aws, azure"; empty if every requested provider has one.
std::string unpriced_words(const plan::Request& request, const plan::Recommendation& found);

// "not in the table: ovhcloud (its newest price is 1,088 days old)": requested providers that no listed plan uses.
std::string unlisted_words(const plan::Recommendation& found);

// The change in words that suit this request: a latency limit for an image is not a TTFT.
std::string change_words(const plan::Request& request, plan::RequestChangeKind kind);

// What to know before acting on the first plan: its price, missing benchmarks, quality of its number format.
std::vector<std::string> caveats(const plan::Request& request, const plan::Recommendation& found);

// Why no other GPU is listed.
std::string no_other_gpu(const plan::Recommendation& found);
// " of those with a benchmark and a confirmed price", if a cheaper plan has none, so that a chance does not count it.
std::string among_whom(const plan::Recommendation& found);

// "Next best GPU: ..."; how its cost compares with the first plan and why, and how certain the order is.
std::string next_best_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
