// Exact decimal amounts: a bill of ten million lines adds up to the cent.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace rightsize::bill {

// A whole number of 10^-18 units of a currency, up to 10^20 units.
class Money {
 public:
  constexpr Money() = default;

  // "12.50", "-0.00031", "1.5E-7"; digits beyond the 18th decimal are dropped. False for anything else; `into` is then
  // unchanged. Empty text is false.
  static bool parse(std::string_view text, Money& into);
  static Money of(double amount);  // rounded to 10^-9

  Money& operator+=(Money o) { return units_ += o.units_, *this; }
  Money& operator-=(Money o) { return units_ -= o.units_, *this; }
  friend Money operator+(Money a, Money b) { return a += b; }
  friend Money operator-(Money a, Money b) { return a -= b; }
  auto operator<=>(const Money&) const = default;

  // One of `count` nearly equal parts, from 0; together they are exactly the whole.
  Money part(int index, int count) const;

  // Rounded half away from zero.
  std::int64_t cents() const;
  double amount() const;     // with the 15 digits of a double
  double in_cents() const;   // the amount rounded to cents
  std::string text() const;  // all its decimals, none after the last that is not 0: "12.5", "-0.00031"

 private:
  __extension__ typedef __int128 Units;
  Units units_ = 0;
};

}  // namespace rightsize::bill
