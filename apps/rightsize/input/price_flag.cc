#include "rightsize/input/price_flag.h"

namespace rightsize::app {

void add_price_flag(FlagSet& command, PriceFlag& prices) { add_price_flag(command, prices, "--price", kPriceHelp); }

// One value a flag: a file name behind it is not another price.
void add_price_flag(FlagSet& command, PriceFlag& prices, const std::string& name, const std::string& help) {
  command.add_option(name, prices, help)->delimiter(',')->one_value_each()->type_name("[NAME=]USD/H");
}

Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name) {
  RIGHTSIZE_TRY(market::OwnPrices own, market::parse_own_prices(prices, catalog, name));
  return market::PriceBook(catalog, std::move(own));
}

}  // namespace rightsize::app
