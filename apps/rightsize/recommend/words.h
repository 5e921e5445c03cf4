// The sentences about plans that reports, decision records and JSON share.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

// BERT and image models answer in one pass, without tokens.
bool answers_at_once(const plan::Request& request);

// "Train llama-2-7b on 1 B tokens within 14 d", "Serve llama-3.1-70b at 20 requests/s".
// 50, 95 or 99: where the SLOs of a service hold.
int percentile_of(const plan::Request& request);

std::string describe_request(const plan::Request& request);

// "1 x a4-highgpu-8g (8 x b200-sxm) from gcp in europe-west1, spot".
std::string describe_machines(const plan::Plan& plan);

// "full training in amp-bf16 with hf, micro-batch 8 on each of 8 GPUs, ...".
std::string describe_settings(const plan::Request& request, const plan::Plan& plan);

// What binds it, and how far the next limit is.
std::string describe_margins(const plan::Request& request, const plan::Plan& plan);

// "170,096 tokens/s".
std::string describe_speed(const plan::Request& request, const plan::Plan& plan);

// "$31.81 ($26.90 to $37.60)"; serving: a month.
std::string describe_cost(const plan::Request& request, const plan::Plan& plan);

// Where its price comes from.
std::string price_source(const plan::Plan& plan, const catalog::Catalog& catalog);
std::string price_date(const plan::Plan& plan);

// Why this plan stands where it does: its settings, what binds it, how it compares with the first.
std::vector<std::string> reasons(const plan::Request& request, const plan::Plan& plan, const plan::Plan& first,
                                 const catalog::Catalog& catalog);

// What a narrower number format may cost in quality; empty where the checkpoint is used as it is.
std::string quality_caveat(const plan::Request& request, const plan::Plan& plan);

// "61 % less", "12 % more".
std::string compare(double ratio);

// "2 x p5.48xlarge (8 x h100-sxm) at aws, on-demand".
std::string describe_outline(const plan::PlanOutline& plan);

// What a change is, and what it does to the result (empty: nothing).
struct ChangeWords {
  std::string what, effect;
};
ChangeWords describe_change(const plan::Request& request, plan::ChangeKind kind);

// What a configuration that fell out needed, and what there was: "41 GiB on each of 4 GPUs", "40 GiB".
std::string describe_need(const plan::Shortfall& shortfall);
std::string describe_have(const plan::Shortfall& shortfall);

// Why a change that saves memory costs time; empty for the others.
std::string why_slower(plan::ChangeKind kind);

// What would let a GPU in that fell out: "--method lora: 1 x ... for $120, 61 % less"; empty where nothing does.
// `first` is the best plan, where there is one.
std::string describe_fix(const plan::Request& request, const plan::Rejection& rejection, const plan::Plan* first);

// When the answer becomes another, and which: "the deadline is under 3 d", "1 x ... for $120 in 2 d".
struct BreakpointWords {
  std::string when, then;
};
BreakpointWords describe_breakpoint(const plan::Breakpoint& point, const plan::Plan& first);

// Why a price may not decide the first line: "its price is 431 days old". Empty where it may.
std::string held_back(const market::PriceOutlook& price);

// "its price was read 120 days ago".
std::string describe_warning(const plan::PriceWarning& warning);

}  // namespace rightsize::app
