// The user's own prices, with the columns of data/prices/*.csv and a provider: provider,instance,region,zone,purchase,
// price,date,note and, for machines that are not in the catalogue, gpu,gpus,vcpus,memory.
#include "base/parse_units.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

constexpr RowColumns kOwnColumns{"instance", "region", "zone", "gpu", "gpus", "vcpus", "", ""};

Result<> read_own_table(const FeedInput& input, FeedSink& sink) {
  return read_rows(input, {"instance", "region", "purchase", "price"}, "a price table", [&](const TableRow& table) {
    FeedRow row = row_of(table, kOwnColumns, std::string(table["provider"]));
    if (row.provider.empty()) row.provider = input.provider;
    row.note = table["note"];
    if (const Result<Bytes> memory = parse_bytes(table["memory"])) row.memory_gib = in_gib(*memory);
    if (const Result<Date> date = parse_date(table["date"])) row.date = *date;
    const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(table["purchase"]);
    // A bare number is dollars per hour, as in every other feed.
    const std::optional<double> bare = table.number("price");
    const Result<UsdPerMachineSecond> rate = parse_usd_per_machine_hour(table["price"]);
    if (row.provider.empty() || !purchase || (!bare && !rate)) {
      return sink.refuse(row.provider.empty() ? "no provider: add a column or name it with --provider"
                         : !purchase          ? "purchase is not on-demand, spot, 1y, 3y or capacity-block"
                                              : "price is not a number",
                         row.instance, row.line);
    }
    row.purchase = *purchase;
    row.usd_per_hour = bare ? *bare : in_usd_per_machine_hour(*rate);
    sink.take(std::move(row));
  });
}

}  // namespace

std::vector<Feed> own_table() {
  return {{{"csv", "your own table: provider,instance,region,purchase,price[,zone,date,gpu,gpus,note]", false},
           false,
           read_own_table}};
}

}  // namespace rightsize::feeds
