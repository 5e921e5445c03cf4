// The explanations of a recommendation: confidence, what would change it, doubts about the price, other terms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "plan/candidates.h"

namespace rightsize::plan {

// The probability that the first candidate's GPU is the best when the speed of every GPU varies independently within
// its error bar, and services get the machines that they then need: 2,000 draws with a fixed seed. `kinds` are best
// first. Empty without another GPU.
std::optional<double> confidence_of(const Request& request, const std::vector<PricedOption>& kinds);

// The first plan under a shorter deadline; empty: none.
using FirstWithin = std::function<std::optional<PricedOption>(Seconds)>;

// Deadlines, prices and budgets at which another plan would be first.
std::vector<Breakpoint> breakpoints_of(const Request& request, const std::vector<PricedOption>& kinds,
                                       const FirstWithin& first_within);

// Doubts about a price: unconfirmed, old, or far below other regions.
std::vector<PriceWarning> price_warnings(const market::Offer& offer, const catalog::Catalog& catalog, Date today);

// The test of a candidate without a benchmark: its cost, and what it is expected to save if the cheaper one of `first`
// and `other` is used after it. Null: there is no other. The plan is left empty.
Experiment experiment_of(const Request& request, const PricedOption& tested, const PricedOption& first,
                         const PricedOption* other);

PlanOutline outline_of(const PricedOption& candidate);

struct PossibleChange {
  RequestChangeKind kind;
  std::string flags;  // the flags that make the change
  Request request;    // the changed one
};

// The changes that apply to this request, those with the least effect on the result first. `leading`: the settings of
// the best plans so far, which a changed request may always choose.
std::vector<PossibleChange> possible_changes(const Request& request, const std::vector<model::Job>& leading = {});
// GPUs to try where the given number is not enough.
inline constexpr int kManyGpus = 1024;
// Relaxed limits, for requests that nothing meets. `rejected`: what each GPU lacks.
std::vector<PossibleChange> relaxed_limits(const Request& request, const std::vector<Rejection>& rejected = {});
// Every change of a request that is too expensive, without its budget: with the budget that it then needs, each is a
// pair of changes.
std::vector<PossibleChange> changes_without_budget(const Request& request);
// A limit on time that a user would write, at least as long as this, and how it is written.
Seconds rounded_up(Seconds time, bool deadline);
std::string duration_flag(Seconds time);
// Changes that only some first plans suggest: no spare machine, other places, a smaller KV cache, a power cap.
std::vector<PossibleChange> further_changes(const Request& request, const Plan& first);
// Whether the limit on TTFT is one on the latency, as of responses that are one pass over their input.
bool takes_one_pass(const Request& request);
// Whether the change extends a limit on time.
bool extends(RequestChangeKind kind);
// Whether the change relaxes a limit, so that the plans of the request remain possible.
bool relaxes(RequestChangeKind kind);
// Whether the change runs the same training with other software.
bool changes_stack(RequestChangeKind kind);
// Whether the change needs less memory and gives the same result.
bool keeps_result(RequestChangeKind kind);
// Whether the change drops one limit of a request that nothing meets.
bool gives_up_one(RequestChangeKind kind);
// Whether the change plans for less work, or simpler work, than was asked for.
bool reduces_work(RequestChangeKind kind);
// What a plan takes of the limit that the change extends.
Seconds limited_time(RequestChangeKind kind, const PricedOption& plan);
// The request with its limits of these kinds longer by a factor, and without them. The largest factor that a plan needs
// for one of them.
PossibleChange extended_limits(const Request& request, const std::vector<RequestChangeKind>& kinds, double factor);
PossibleChange without_limits(const Request& request, const std::vector<RequestChangeKind>& kinds);
double factor_needed(const Request& request, const std::vector<RequestChangeKind>& kinds, const PricedOption& plan);
// The same change with the limit that its plan needs, and with one between that and its own, smallest first.
std::vector<PossibleChange> smaller_changes(const PossibleChange& relaxed, const PricedOption& plan);
// Hours that are tried for a service that is switched off at night.
inline constexpr int kWorkingHours = 10;
// If the first plan's price is unconfirmed: limits to drop to find a plan with a confirmed price.
std::vector<PossibleChange> confirmed_prices(const Request& request);

// Adds spot and commitment prices of the plan's machines, in its region if possible. A plan that already uses such
// terms gets only its own commitment.
void add_terms(const market::PriceBook& book, const Request& request, Plan& plan);

// The provider quota that the plan's machines count against.
std::optional<Quota> quota_of(const Plan& plan);

}  // namespace rightsize::plan
