// Values of Terraform expressions and the functions that node groups and counts are computed with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifests/hcl.h"
#include "manifests/request.h"

namespace rightsize::manifests {

HclValue hcl_bool(bool value);
HclValue hcl_number(double value);
HclValue hcl_string(std::string text);

// Conversions as in Terraform ("3" is a number); empty if there is none.
std::optional<double> number_of(const HclValue& value);
std::optional<bool> truth_of(const HclValue& value);
std::string text_of(const HclValue& value);  // empty for lists and objects

// As written; expressions, lists and objects as well.
std::string shown_value(const HclValue& value);
// A number that is not negative, 1 if there is no value; what has no number is unresolved in the request.
std::optional<double> count_of(const HclValue* value, std::string_view name, GpuRequest& request);

// merge, concat, lookup, try, coalesce, length, max ...; an argument without a value is empty, as is the result of an
// unknown function. `settle` gives the value of a member that is still an expression.
using Settle = std::function<std::optional<HclValue>(const HclValue&)>;
std::optional<HclValue> hcl_call(const std::string& name, std::vector<std::optional<HclValue>> arguments,
                                 const Settle& settle);

}  // namespace rightsize::manifests
