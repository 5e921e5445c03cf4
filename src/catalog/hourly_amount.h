// Prices per hour as people and price lists write them, with their currency.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rightsize::catalog {

struct HourlyAmount {
  double amount = 0;
  std::string currency;  // ISO 4217; empty if not given
};

// "2.6", "$2.60", "2.6USD/h", "2.60 EUR", "€2.60 per hour", "EUR 2.60". Thousands separators are refused, because
// "1,234" may also mean 1.234. Any code of three letters is accepted; the catalogue knows whether there is a rate for
// it.
Result<HourlyAmount> parse_hourly_amount(std::string_view text);

// A currency as a user writes it: "eur", "€", "euro".
Result<std::string> parse_currency(std::string_view text);

}  // namespace rightsize::catalog
