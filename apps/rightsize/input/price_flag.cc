#include "rightsize/input/price_flag.h"

namespace rightsize::app {

void add_price_flag(FlagSet& command, PriceFlag& prices) { command.add("price", prices); }

Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name) {
  RIGHTSIZE_TRY(market::OwnPrices own, market::parse_own_prices(prices, catalog, name));
  return market::PriceBook(catalog, std::move(own));
}

}  // namespace rightsize::app
