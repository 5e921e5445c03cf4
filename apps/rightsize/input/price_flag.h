// --price: what the user pays, in the one syntax of market/own_prices.h, for every command that takes or prints prices.
#pragma once

#include <string>
#include <vector>

#include "market/price_book.h"
#include "rightsize/command.h"

namespace rightsize::app {

using PriceFlag = std::vector<std::string>;  // one price each

inline constexpr const char* kPriceHelp =
    "what you pay an hour, instead of list prices: h100-sxm=2.49, a100=1.90, p5.48xlarge=55, or 2.49 for every GPU; "
    "may be repeated";

void add_price_flag(FlagSet& command, PriceFlag& prices);
// Another flag of the same syntax.
void add_price_flag(FlagSet& command, PriceFlag& prices, const std::string& name, const std::string& help);

// The catalogue's prices and the user's own. The catalogue must outlive the book.
Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name = "--price");

}  // namespace rightsize::app
