#include "rightsize/recommend/api_cost.h"

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::app {

Result<ApiPrice> parse_api_price(std::string_view text) {
  const std::size_t between = text.find_first_of("/,:");
  const auto dollars = [&](std::string_view part) -> Result<double> {
    part = trim(part);
    if (part.starts_with('$')) part.remove_prefix(1);
    const Result<double> value = parse_number(part);
    if (value && *value >= 0 && *value <= 1e5) return *value;
    return fail(bad_input(fmt::format("--api-price: '{}' is not a price per 1M tokens", text))
                    .with_hint("--api-price 0.15/0.60: dollars per 1M tokens in and out"));
  };
  RIGHTSIZE_TRY(const double input, dollars(text.substr(0, between)));
  RIGHTSIZE_TRY(const double output,
                between == std::string_view::npos ? Result<double>(input) : dollars(text.substr(between + 1)));
  return ApiPrice{input, output};
}

std::optional<ApiCost> api_cost(const ApiPrice& price, const plan::Request& request, const plan::Plan& plan) {
  if (request.work.kind == plan::WorkKind::kTraining || request.model.vocabulary <= 0 || request.work.is_measured())
    return std::nullopt;
  const bool monthly = request.work.kind == plan::WorkKind::kServing;
  double input = static_cast<double>(request.job.serve.isl), output = static_cast<double>(request.job.serve.osl);
  if (!request.work.mix.empty()) input = output = 0;
  for (const plan::RequestSize& size : request.work.mix) {
    input += size.share * static_cast<double>(size.isl);
    output += size.share * static_cast<double>(size.osl);
  }
  const double requests = monthly
                              ? in_requests_per_s(request.work.rate) * request.work.mean_traffic() * in_seconds(kMonth)
                              : request.work.amount;
  if (!(requests > 0) || !(input + output > 0)) return std::nullopt;
  ApiCost all{price, monthly, requests * (input + output), {}, plan.cost};
  all.cost = usd(requests * (input * price.input + output * price.output) / 1e6);
  // A service pays for its machines at any load; a job, for its start.
  const Usd fixed = monthly ? plan.cost : plan.cost * (plan.time.startup / plan.time.total());
  const Usd gain = all.cost - (plan.cost - fixed);  // of this volume, before fixed costs
  if (gain > Usd{}) all.break_even = all.tokens * (fixed / gain);
  return all;
}

std::string api_sentence(const ApiCost& c) {
  const char* each = c.monthly ? "/month" : "";
  const auto volume = [&](double tokens) {
    return fmt::format("{} tokens{}", format_magnitude(tokens / c.per_day()), c.monthly ? "/day" : "");
  };
  const bool dearer = c.cost > c.plan;
  std::string text = fmt::format("The API costs {}{} for the same {} ({} in, {} out per 1M), {} {} than this plan; ",
                                 format_usd(c.cost), each, volume(c.tokens), format_usd(usd(c.price.input)),
                                 format_usd(usd(c.price.output)),
                                 format_usd(dearer ? c.cost - c.plan : c.plan - c.cost), dearer ? "more" : "less");
  if (!(c.break_even > 0)) return text + "it is cheaper at any volume.";
  return text + fmt::format("self-hosting with this plan is cheaper above {}{}.", volume(c.break_even),
                            c.monthly && !dearer ? ", more than it is sized for" : "");
}

const report::Fields<ApiCost>& api_fields() {
  static const report::Fields<ApiCost> kFields = {
      {"usd", "what the API charges for the same tokens (services: per month)", &ApiCost::cost},
      {"plan_usd", "what the plan costs", &ApiCost::plan},
      {"tokens_per_day?", "services: tokens in and out",
       [](const ApiCost& c) { return report::when(c.monthly, c.tokens / c.per_day()); }},
      {"tokens?", "jobs: tokens in and out", [](const ApiCost& c) { return report::when(!c.monthly, c.tokens); }},
      {"break_even_tokens_per_day?", "services: tokens above which the plan costs less; absent: at no volume",
       [](const ApiCost& c) { return report::when(c.monthly && c.break_even > 0, c.break_even / c.per_day()); }},
      {"break_even_tokens?", "jobs: tokens above which the plan costs less; absent: at no volume",
       [](const ApiCost& c) { return report::when(!c.monthly && c.break_even > 0, c.break_even); }},
  };
  return kFields;
}

}  // namespace rightsize::app
