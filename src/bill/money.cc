#include "bill/money.h"

#include <algorithm>
#include <cmath>

namespace rightsize::bill {
namespace {

constexpr int kDecimals = 18;
constexpr std::int64_t kUnitsPerCent = 10'000'000'000'000'000;  // 10^16

}  // namespace

bool Money::parse(std::string_view text, Money& into) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Units mantissa = 0;
  int decimals = 0, digits = 0;
  bool point = false, any = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    if (digits >= 36) {
      if (!point) return false;
      continue;
    }
    mantissa = mantissa * 10 + (c - '0');
    digits += mantissa != 0 ? 1 : 0;
    decimals += point ? 1 : 0;
  }
  if (!any) return false;
  int exponent = 0;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return false;
    ++at;
    const bool below = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at >= text.size() || text.size() - at > 3) return false;
    for (; at < text.size(); ++at) {
      if (text[at] < '0' || text[at] > '9') return false;
      exponent = exponent * 10 + (text[at] - '0');
    }
    if (below) exponent = -exponent;
  }
  int shift = kDecimals - decimals + exponent;
  for (; shift < 0 && mantissa != 0; ++shift) mantissa /= 10;
  // At most 10^38 fits.
  if (mantissa != 0 && digits + std::max(shift, 0) > 37) return false;
  for (; shift > 0 && mantissa != 0; --shift) mantissa *= 10;
  into.units_ = negative ? -mantissa : mantissa;
  return true;
}

Money Money::of(double amount) {
  Money made;
  if (std::isfinite(amount) && std::abs(amount) < 9e9) {
    made.units_ = static_cast<Units>(std::llround(amount * 1e9)) * 1'000'000'000;
  }
  return made;
}

Money Money::part(int index, int count) const {
  Money made;
  // The quotient first: the amount times the index may not fit.
  const Units each = units_ / count, rest = units_ % count;
  made.units_ = each + (rest * (index + 1) / count - rest * index / count);
  return made;
}

std::int64_t Money::cents() const {
  const Units half = units_ < 0 ? -(kUnitsPerCent / 2) : kUnitsPerCent / 2;
  return static_cast<std::int64_t>((units_ + half) / kUnitsPerCent);
}

double Money::amount() const { return static_cast<double>(units_) / 1e18; }
double Money::in_cents() const { return static_cast<double>(cents()) / 100; }

std::string Money::text() const {
  Units rest = units_ < 0 ? -units_ : units_;
  std::string digits;
  for (; rest != 0; rest /= 10) digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  while (digits.size() <= kDecimals) digits += '0';
  std::reverse(digits.begin(), digits.end());
  std::string made = digits.substr(0, digits.size() - kDecimals);
  std::string decimals = digits.substr(digits.size() - kDecimals);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  if (!decimals.empty()) made += "." + decimals;
  return units_ < 0 ? "-" + made : made;
}

}  // namespace rightsize::bill
