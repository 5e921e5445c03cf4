// Azure Retail Prices: pages of JSON as the service answers them. https://prices.azure.com/api/retail/prices
#include "base/units.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;

// One price of an item: its own, or that of a savings plan listed with it.
void take_azure_price(const catalog::Machine& machine, const JsonValue& item, const std::string& type,
                      const std::string& term, std::optional<double> price, FeedSink& sink) {
  const std::string& region = text_at(item, "armRegionName");
  const std::string& currency = text_at(item, "currencyCode");
  const std::string& unit = text_at(item, "unitOfMeasure");
  const bool spot = text_at(item, "skuName").find("Spot") != std::string::npos;
  const std::string what = machine.instance + " " + region;
  if (!currency.empty() && currency != "USD") return sink.refuse("not in dollars", what, 0);
  if (!price) return sink.refuse("no price", what, 0);
  const int years = term.starts_with('3') ? 3 : 1;
  if (term.starts_with('5') || (type == "SavingsPlan" && spot)) return sink.pass();
  if (!unit.empty() && unit != "1 Hour") return sink.refuse("not priced by the hour", what, 0);
  FeedRow row = row_of(machine, region, *price);
  if (type == "Reservation" || type == "SavingsPlan") {
    // A reservation's price covers the whole term, although its unit says one hour. If both are listed, the import
    // keeps the lower.
    if (type == "Reservation") row.usd_per_hour /= years * in_hours(kYear);
    row.purchase = years == 3 ? Purchase::kThreeYears : Purchase::kOneYear;
    row.note = type == "Reservation" ? "reservation" : "savings plan";
  } else {
    row.purchase = spot ? Purchase::kSpot : Purchase::kOnDemand;
    if (const Result<Date> day = parse_date(text_at(item, "effectiveStartDate").substr(0, 10)))
      row.note = "in force since " + format_date(*day);
  }
  sink.take(std::move(row));
}

Result<> read_azure(const FeedInput& input, FeedSink& sink) {
  const KnownMachines machines(input.catalog, "azure");
  return read_entries(input, "Items", "Azure Retail Prices", [&](const JsonValue& item) {
    const catalog::Machine* machine = machines.find(text_at(item, "armSkuName"));
    const std::vector<JsonValue>& plans = items_at(item, "savingsPlan");
    // Windows is also written " Win"; Cloud Services and dedicated hosts are other products; Low Priority is retired.
    bool other = machine == nullptr || text_at(item, "type") == "DevTestConsumption" ||
                 text_at(item, "skuName").find("Low Priority") != std::string::npos;
    for (const char* name : {"Windows", " Win", "Cloud Services", "CloudServices", "Dedicated"})
      other = other || text_at(item, "productName").find(name) != std::string::npos;
    if (other) return sink.pass();
    take_azure_price(*machine, item, text_at(item, "type"), text_at(item, "reservationTerm"),
                     number_at(item, "retailPrice"), sink);
    for (const JsonValue& plan : plans) {
      if (number_at(plan, "retailPrice") && !text_at(plan, "term").empty())
        take_azure_price(*machine, item, "SavingsPlan", text_at(plan, "term"), number_at(plan, "retailPrice"), sink);
    }
  });
}

}  // namespace

std::vector<Feed> azure() {
  return {{{"azure", "Azure Retail Prices, pages of JSON", false}, false, read_azure, "\"armSkuName\""}};
}

}  // namespace rightsize::feeds
