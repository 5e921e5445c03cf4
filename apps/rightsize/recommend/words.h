// The sentences about plans that reports, decision records and JSON share.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// Whether the model answers without output tokens: encoders and image models.
bool answers_at_once(const plan::Request& request);

// The unit of `units_per_second` in the request's plans.
enum class WorkUnit { kTokens, kSamples, kRequests };
WorkUnit work_unit(const plan::Request& request);
std::string_view unit_of(const plan::Request& request);  // "tokens", "images", "requests"

// The percentile of the SLOs: 50, 95 or 99.
int percentile_of(const plan::Request& request);

// "Train llama-2-7b on 1 B tokens within 14 d", "Serve llama-3.1-70b at 20 requests/s".
// "1280x720": the pixels of an image or a video that is generated, as given or the model's own.
std::string resolution_of(const plan::Request& request);

std::string describe_request(const plan::Request& request);

// "2 x p5.48xlarge (8 x h100-sxm) from aws".
std::string describe_order(const market::Offer& offer, int machines);

// "1 x a4-highgpu-8g (8 x b200-sxm) from gcp in europe-west1, spot".
std::string describe_machines(const plan::Plan& plan);

// "full training in amp-bf16 with hf, micro-batch 8 on each of 8 GPUs, ...".
std::string describe_settings(const plan::Request& request, const plan::Plan& plan);

// What limits the speed, and the distance to each limit.
std::string describe_margins(const plan::Request& request, const plan::Plan& plan);

// "170,096 tokens/s".
std::string describe_speed(const plan::Request& request, const plan::Plan& plan);

// "$31.81 ($26.90 to $37.60)"; with "/month" for a service.
std::string describe_cost(const plan::Request& request, const plan::Plan& plan);

// The source of the plan's price.
std::string price_source(const plan::Plan& plan, const catalog::Catalog& catalog);
std::string price_date(const plan::Plan& plan);
// "$2.49/h per machine, SOURCE, DATE".
std::string describe_price(const plan::Plan& plan, const catalog::Catalog& catalog);

// Why the plan has its rank: its settings, its limits, and the comparison with the first plan.
std::vector<std::string> reasons(const plan::Request& request, const plan::Plan& plan, const plan::Plan& first,
                                 const catalog::Catalog& catalog);

// The quality that a narrower number format may cost; empty if the checkpoint is used as published.
std::string quality_caveat(const plan::Request& request, const plan::Plan& plan);

// Cents below $100, then three significant digits: "$80.64", "$581", "$20,900".
std::string short_usd(Usd amount);

// "61 % less", "12 % more".
std::string compare(double ratio);

// "2 x p5.48xlarge (8 x h100-sxm) from aws, on-demand".
std::string describe_outline(const plan::PlanOutline& plan);

// A change, its effect on the result, and why a change that saves memory costs time; parts that do not apply are empty.
struct ChangeWords {
  std::string what, effect, why_slower;
};
const ChangeWords& describe_change(plan::RequestChangeKind kind);

// What a rejected configuration needed, and what there was: "41 GiB on each of 4 GPUs", "40 GiB".
struct NeedAndHave {
  std::string need, have;
};
NeedAndHave describe_shortfall(const plan::Shortfall& shortfall);

// What would make a rejected GPU work: "--method lora: 1 x ... for $120, 61 % less"; empty if nothing does. `first` is
// the best plan, if there is one.
std::string describe_fix(const plan::Request& request, const plan::Rejection& rejection, const plan::Plan* first);

// What would change the recommendation, and to what: "the deadline is under 3 d", "1 x ... for $120 in 2 d".
struct BreakpointWords {
  std::string when, recommended;
};
BreakpointWords describe_breakpoint(const plan::Breakpoint& point, const plan::Plan& first);

// Why a price is not used for the first plan: "431 days old", "88 days old and unconfirmed".
std::string price_doubt(const market::PriceOutlook& price);

// "price 821 days old": why the price of a plan must be confirmed first; empty: it need not.
std::string doubt_of_price(const plan::Plan& plan);
// The same as a clause: "its price is 431 days old". Empty if the price is sound.
std::string held_back(const market::PriceOutlook& price);

// "price 87 days old, one source; 2 other providers are close".
std::string describe_evidence(const market::PriceOutlook& price);

// What the speed is based on: "measured", "transferred", "no benchmark, from l40s".
std::string describe_basis(const plan::Plan& plan);

// "confirm its price (120 days old)".
std::string describe_warning(const plan::PriceWarning& warning);

}  // namespace rightsize::app
