// Conditions, comparisons and arithmetic of expressions.
#include <cmath>

#include "manifests/hcl_expression.h"
#include "manifests/hcl_functions.h"

namespace rightsize::manifests {

HclExpression::Maybe HclExpression::condition() {
  if (++depth_ > kDeepest || --budget_ < 0) return fail();
  Maybe test = any_of();
  if (take("?")) {
    Maybe yes = condition();
    if (!take(":")) return fail();
    Maybe no = condition();
    const std::optional<bool> truth = test ? truth_of(*test) : std::nullopt;
    test = truth ? (*truth ? yes : no) : std::nullopt;
  }
  --depth_;
  return test;
}

HclExpression::Maybe HclExpression::any_of() {
  Maybe left = all_of();
  while (take("||")) {
    const Maybe right = all_of();
    const auto a = left ? truth_of(*left) : std::nullopt, b = right ? truth_of(*right) : std::nullopt;
    left = (a && *a) || (b && *b) ? Maybe(hcl_bool(true)) : a && b ? Maybe(hcl_bool(false)) : std::nullopt;
  }
  return left;
}

HclExpression::Maybe HclExpression::all_of() {
  Maybe left = compared();
  while (take("&&")) {
    const Maybe right = compared();
    const auto a = left ? truth_of(*left) : std::nullopt, b = right ? truth_of(*right) : std::nullopt;
    left = (a && !*a) || (b && !*b) ? Maybe(hcl_bool(false)) : a && b ? Maybe(hcl_bool(true)) : std::nullopt;
  }
  return left;
}

HclExpression::Maybe HclExpression::compared() {
  Maybe left = sum();
  for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!take(sign)) continue;
    const Maybe right = sum();
    if (!left || !right) return std::nullopt;
    if (sign == "==" || sign == "!=") return hcl_bool((text_of(*left) == text_of(*right)) == (sign == "=="));
    const auto a = number_of(*left), b = number_of(*right);
    if (!a || !b) return std::nullopt;
    return hcl_bool(sign == "<" ? *a < *b : sign == ">" ? *a > *b : sign == "<=" ? *a <= *b : *a >= *b);
  }
  return left;
}

HclExpression::Maybe HclExpression::computed(const Maybe& left, char sign, const Maybe& right) {
  const double a = left ? number_of(*left).value_or(NAN) : NAN, b = right ? number_of(*right).value_or(NAN) : NAN;
  if (std::isnan(a) || std::isnan(b) || ((sign == '/' || sign == '%') && b == 0)) return std::nullopt;
  return hcl_number(sign == '+'   ? a + b
                    : sign == '-' ? a - b
                    : sign == '*' ? a * b
                    : sign == '/' ? a / b
                                  : std::fmod(a, b));
}

HclExpression::Maybe HclExpression::sum() {
  Maybe left = product();
  while (true) {
    if (take("+"))
      left = computed(left, '+', product());
    else if (take("-"))
      left = computed(left, '-', product());
    else
      return left;
  }
}

HclExpression::Maybe HclExpression::product() {
  Maybe left = with_sign();
  while (true) {
    if (take("*"))
      left = computed(left, '*', with_sign());
    else if (take("/"))
      left = computed(left, '/', with_sign());
    else if (take("%"))
      left = computed(left, '%', with_sign());
    else
      return left;
  }
}

HclExpression::Maybe HclExpression::with_sign() {
  if (depth_ > kDeepest) return fail();
  if (take("-")) return computed(hcl_number(0), '-', with_sign());
  if (take("!")) {
    const Maybe inner = with_sign();
    const std::optional<bool> truth = inner ? truth_of(*inner) : std::nullopt;
    return truth ? Maybe(hcl_bool(!*truth)) : std::nullopt;
  }
  return with_members();
}

}  // namespace rightsize::manifests
