#include "catalog/hourly_amount.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/text.h"

namespace rightsize::catalog {
namespace {

// Spellings in price lists instead of the code.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"$", "USD"},    {"us$", "USD"},   {"dollar", "USD"}, {"dollars", "USD"}, {"€", "EUR"},
    {"euro", "EUR"}, {"euros", "EUR"}, {"£", "GBP"},      {"pound", "GBP"},   {"pounds", "GBP"},
    {"¥", "JPY"},    {"yen", "JPY"},   {"₹", "INR"},      {"rupees", "INR"},  {"rmb", "CNY"},
};

bool is_code(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

// Removes the hour from "EUR/h", "EUR per hour", "/hr".
std::string_view without_hour(std::string_view text) {
  for (const std::string_view end : {"per hour", "an hour", "/hour", "/hr", "/h", "hourly"}) {
    if (text.ends_with(end)) return trim(text.substr(0, text.size() - end.size()));
  }
  return text;
}

}  // namespace

Result<std::string> parse_currency(std::string_view text) {
  const std::string word = to_lower(trim(text));
  for (const auto& [name, code] : kNames) {
    if (word == name) return std::string(code);
  }
  if (!is_code(word))
    return fail(bad_input(fmt::format("'{}' is not a currency; write a code such as EUR", trim(text))));
  std::string code = word;
  std::ranges::transform(code, code.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return code;
}

Result<HourlyAmount> parse_hourly_amount(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  std::string_view rest = without_hour(lower);
  const auto wrong = [&] {
    return fail(bad_input(fmt::format("'{}' is not a price per hour", trim(text)))
                    .with_hint("for example 2.60, 2.60USD/h or 2.60EUR/h"));
  };
  // The currency is before the number or after it.
  const std::size_t start = rest.find_first_of("+-.0123456789");
  if (start == std::string_view::npos) return wrong();
  std::string_view before = trim(rest.substr(0, start));
  HourlyAmount found;
  const char* end = rest.data() + rest.size();
  const char* stop = parse_decimal(rest.data() + start, end, found.amount);
  if (stop == rest.data() + start || !std::isfinite(found.amount) || found.amount <= 0) return wrong();
  const std::string_view after = trim(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  if (!before.empty() && !after.empty()) return wrong();
  if (const std::string_view word = before.empty() ? after : before; !word.empty()) {
    Result<std::string> code = parse_currency(word);
    if (!code) return wrong();
    found.currency = *std::move(code);
  }
  return found;
}

}  // namespace rightsize::catalog
