// What an API charges for the tokens of a plan.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "report/fields.h"

namespace rightsize::app {

struct ApiPrice {
  double input = 0, output = 0;  // dollars per million tokens
};
// "0.15/0.60", or one price for both.
Result<ApiPrice> parse_api_price(std::string_view text);

struct ApiCost {
  ApiPrice price;
  bool monthly = false;   // services: per month; otherwise for the whole work
  double tokens = 0;      // in and out
  Usd cost, plan;         // of the API and of the plan
  double break_even = 0;  // tokens above which the plan costs less; 0: the API is cheaper at any volume
  double per_day() const { return monthly ? kMonth / days(1) : 1; }
};
// Empty for work without tokens in and out.
std::optional<ApiCost> api_cost(const ApiPrice& price, const plan::Request& request, const plan::Plan& plan);

std::string api_sentence(const ApiCost& cost);
const report::Fields<ApiCost>& api_fields();

}  // namespace rightsize::app
