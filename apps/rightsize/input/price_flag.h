// --price: the user's own prices, in the syntax of market/own_prices.h, for every command that uses prices.
#pragma once

#include <string>
#include <vector>

#include "market/price_book.h"
#include "rightsize/command.h"

namespace rightsize::app {

using PriceFlag = std::vector<std::string>;  // one price per entry

void add_price_flag(FlagSet& command, PriceFlag& prices);

// The catalogue's prices and the user's own. The catalogue must outlive the book.
Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name = "--price");

}  // namespace rightsize::app
