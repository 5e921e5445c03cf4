#include "rightsize/input/price_flag.h"

#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::app {
namespace {

// Names and modification times of files, to detect changes.
std::string state_of(const std::vector<std::string>& files) {
  std::string state;
  for (const std::string& file : files) {
    std::error_code problem;
    const auto time = std::filesystem::last_write_time(file, problem);
    state += fmt::format("{}\n{}\n", file, problem ? 0 : time.time_since_epoch().count());
  }
  return state;
}

// The hourly cost of each machine on the bills.
Checked<std::map<std::string, UsdPerMachineSecond>> billed_prices(const catalog::Catalog& catalog,
                                                                  const std::vector<std::string>& files,
                                                                  bool with_spot) {
  RIGHTSIZE_TRY(const std::shared_ptr<const bill::Bill> bill, open_bill(catalog, files));
  std::map<std::string, UsdPerMachineSecond> prices = bill::effective_prices(*bill, with_spot);
  if (prices.empty()) {
    return fail(
        bad_input(fmt::format("--bill: none of the {} rows is for a machine with GPUs, by the hour", bill->rows))
            .with_hint("'rightsize bill FILE' shows what the bill contains"));
  }
  return prices;
}

}  // namespace

Checked<std::shared_ptr<const bill::Bill>> open_bill(const catalog::Catalog& catalog,
                                                     const std::vector<std::string>& files) {
  static std::mutex guard;
  static std::string last_state;
  static std::shared_ptr<const bill::Bill> last;
  static catalog::Catalog kept;  // the bill points to its machines
  const std::scoped_lock lock(guard);
  const std::string state = state_of(files);
  if (last != nullptr && state == last_state) return last;
  last.reset();
  kept = catalog;
  bill::BillReader reader(kept);
  for (const std::string& file : files) {
    if (Result<> read = reader.read(file); !read) return fail(std::move(read).error());
  }
  last = std::make_shared<const bill::Bill>(reader.finish());
  last_state = state;
  return last;
}

void add_price_flag(FlagSet& command, PriceFlag& prices) {
  command.add("price", static_cast<std::vector<std::string>&>(prices));
  command.add("bill", prices.bills);
}

Checked<market::OwnPrices> read_own_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                           const std::string& name, bool with_spot) {
  RIGHTSIZE_TRY(market::OwnPrices own, market::parse_own_prices(prices, catalog, name));
  if (prices.bills.empty()) return own;
  if (own.empty()) own.flag = "--bill";
  RIGHTSIZE_TRY(const auto billed, billed_prices(catalog, prices.bills, with_spot));
  for (const catalog::Machine& machine : catalog.machines) {
    const auto rate = billed.find(to_lower(machine.instance));
    // A price that the user gave for a GPU also applies to machines with that GPU.
    if (rate != billed.end() && !own.gpus.contains(machine.gpu)) own.machines.insert(*rate);
  }
  return own;
}

Checked<std::vector<std::string>> price_texts(const catalog::Catalog& catalog, const PriceFlag& prices) {
  std::vector<std::string> texts = prices;
  if (prices.bills.empty()) return texts;
  RIGHTSIZE_TRY(const market::OwnPrices given, market::parse_own_prices(prices, catalog));
  RIGHTSIZE_TRY(const market::OwnPrices all, read_own_prices(catalog, prices));
  for (const auto& [instance, rate] : all.machines) {
    if (!given.machines.contains(instance))
      texts.push_back(fmt::format("{}={:.6f}", instance, in_usd_per_machine_hour(rate)));
  }
  return texts;
}

Checked<market::PriceBook> open_prices(const catalog::Catalog& catalog, const PriceFlag& prices,
                                       const std::string& name) {
  RIGHTSIZE_TRY(market::OwnPrices own, read_own_prices(catalog, prices, name));
  return market::PriceBook(catalog, std::move(own));
}

}  // namespace rightsize::app
