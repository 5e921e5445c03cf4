#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/date.h"
#include "base/text.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

struct Name {
  std::string_view name, code;
};
constexpr std::array kNames = {Name{"€", "eur"},     Name{"£", "gbp"},    Name{"¥", "jpy"},      Name{"₹", "inr"},
                               Name{"euros", "eur"}, Name{"euro", "eur"}, Name{"pounds", "gbp"}, Name{"rupees", "inr"}};

// The rate of the currency with this name; empty for dollars and other words.
std::optional<catalog::ExchangeRate> rate_of(std::string_view word) {
  std::string code = to_lower(word);
  for (const Name& known : kNames) {
    if (code == known.name) code = known.code;
  }
  if (code.size() != 3 || code == "usd" || !word_facts()) return std::nullopt;
  Result<catalog::ExchangeRate> rate = word_facts()->exchange_rate(code, today());
  return rate ? std::optional(*std::move(rate)) : std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The parts of "8xh100=€260k/h": text before the money, its currency, its number, and the rest.
struct Money {
  std::string_view before, currency, number, after;
};

// A number that begins a word or follows one of "=,(<>€", with a currency before or after it.
std::optional<Money> find_money(std::string_view word) {
  constexpr std::string_view kBefore = "=,(<>:";
  for (std::size_t start = 0; start < word.size(); ++start) {
    if (start > 0 && kBefore.find(word[start - 1]) == std::string_view::npos) continue;
    std::size_t first = start;
    while (first < word.size() && !is_digit(word[first]) && first - start < 4) ++first;
    std::size_t end = first;
    while (end < word.size() && (is_digit(word[end]) || word[end] == '.' || word[end] == ',')) ++end;
    if (end == first || !is_digit(word[first])) continue;
    while (!is_digit(word[end - 1])) --end;  // "3,000," at the end of a clause
    std::size_t last = end;
    while (last < word.size() && (static_cast<unsigned char>(word[last]) >= 0x80 || std::isalpha(word[last]) != 0))
      ++last;
    // "260kEUR", but "260KRW".
    if (last > end && lists_word("k m", to_lower(word.substr(end, 1))) && !rate_of(word.substr(end, last - end))) ++end;
    const std::string_view prefix = word.substr(start, first - start), suffix = word.substr(end, last - end);
    const std::string_view number = word.substr(first, end - first);
    if (!prefix.empty() && rate_of(prefix)) return Money{word.substr(0, start), prefix, number, word.substr(end)};
    if (prefix.empty() && !suffix.empty() && rate_of(suffix))
      return Money{word.substr(0, start), suffix, number, word.substr(last)};
  }
  return std::nullopt;
}

std::string in_dollars(std::string_view number, const catalog::ExchangeRate& rate) {
  const double usd = parse_amount(number).value_or(Amount{}).count * rate.usd;
  constexpr double kWhole = 1000;  // cents no longer matter
  return usd < kWhole ? fmt::format("${:.4g}", usd) : fmt::format("${:.0f}", usd);
}

}  // namespace

void convert_money(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  std::optional<catalog::ExchangeRate> used;
  const auto convert = [&](std::string_view number, std::string_view currency) {
    used = rate_of(currency);
    return in_dollars(number, *used);
  };
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto amount = [&](std::size_t at) {
      return at < words.size() && is_digit(words[at].front()) && parse_amount(words[at]);
    };
    const std::string next = i + 1 < words.size() ? words[i + 1] : std::string();
    const std::string_view unit = std::string_view(next).substr(0, std::min(next.find('/'), next.size()));
    if (words[i].empty()) continue;
    if (amount(i) && rate_of(unit)) {  // 2 EUR/h
      words[i] = convert(words[i], unit) + next.substr(unit.size());
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (amount(i + 1) && rate_of(words[i]) && (i == 0 || words[i - 1] != "--currency")) {  // EUR 500
      words[i] = convert(next, words[i]);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      while (const std::optional<Money> money = find_money(words[i])) {
        std::string text = std::string(money->before) + convert(money->number, money->currency);
        words[i] = text += money->after;
      }
    }
  }
  if (used) typed.currency = used->currency;
  if (used)
    typed.notes.push_back(
        fmt::format("1 {} is {:.5g} USD ({}, {})", used->currency, used->usd, used->source, format_date(used->date)));
}

}  // namespace rightsize::app
