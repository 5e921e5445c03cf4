// --price and --bill: the user's own prices, in the syntax of market/own_prices.h or from a bill, for every command
// that uses prices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bill/bill.h"
#include "market/price_book.h"
#include "rightsize/command.h"

namespace rightsize::app {

// One price per entry, and the files of bills.
struct PriceFlag : std::vector<std::string> {
  using std::vector<std::string>::vector;
  std::vector<std::string> bills = {};
};

void add_price_flag(FlagSet& command, PriceFlag& prices);

// The files of a bill together. The last one read is cached because prices and reports both need it.
Checked<std::shared_ptr<const bill::Bill>> open_bill(const catalog::Catalog& catalog,
                                                     const std::vector<std::string>& files);

// The user's prices; those of --price come before those of the bills. `with_spot`: prices of existing machines on any
// terms, rather than of machines to rent on demand.
Checked<market::OwnPrices> read_own_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                           const std::string& name = "--price", bool with_spot = false);

// The same as texts for --price.
Checked<std::vector<std::string>> price_texts(const catalog::Catalog& catalog, const PriceFlag& prices);

// The catalogue's prices and the user's own. The catalogue must outlive the book.
Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name = "--price");

}  // namespace rightsize::app
