// The user's own prices, with the columns of data/prices/*.csv and a provider: provider,instance,region,zone,purchase,
// price,currency,date,note and, for machines that are not in the catalogue, gpu,gpus,vcpus,memory.
#include "base/parse_units.h"
#include "catalog/hourly_amount.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

constexpr RowColumns kOwnColumns{"instance", "region", "zone", "gpu", "gpus", "vcpus", "", ""};

bool read_day(std::string_view cell, FeedRow& row) {
  if (cell.empty()) return true;
  const Result<Date> date = parse_date(cell);
  if (date) row.date = *date;
  return date.has_value();
}

// Reads the amount, and its currency from the text, else the column, else --currency. Returns the mistake; empty if
// there is none.
std::optional<const char*> read_amount(const TableRow& table, const FeedInput& input, FeedRow& row) {
  if (!table["currency"].empty()) {
    const Result<std::string> code = catalog::parse_currency(table["currency"]);
    if (!code) return "currency is not a code such as EUR";
    row.currency = *code;
  }
  // A bare number may be 0 or negative; the importer refuses it with a reason.
  if (const std::optional<double> bare = table.number("price")) {
    row.usd_per_hour = *bare;
    if (row.currency.empty()) row.currency = input.currency;
    return std::nullopt;
  }
  const Result<catalog::HourlyAmount> amount = catalog::parse_hourly_amount(table["price"]);
  if (!amount) return "price is not a number";
  if (!row.currency.empty() && !amount->currency.empty() && amount->currency != row.currency)
    return "price and column name different currencies";
  row.usd_per_hour = amount->amount;
  if (row.currency.empty()) row.currency = amount->currency.empty() ? input.currency : amount->currency;
  return std::nullopt;
}

Result<> read_own_table(const FeedInput& input, FeedSink& sink) {
  return read_rows(input, {"instance", "region", "purchase", "price"}, "a price table", [&](const TableRow& table) {
    FeedRow row = row_of(table, kOwnColumns, std::string(table["provider"]));
    if (row.provider.empty()) row.provider = input.provider;
    row.note = table["note"];
    if (const Result<Bytes> memory = parse_bytes(table["memory"])) row.memory_gib = in_gib(*memory);
    if (!read_day(table["date"], row)) return sink.refuse("date is not like 2026-11-01", row.instance, row.line);
    const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(table["purchase"]);
    const std::optional<const char*> wrong = read_amount(table, input, row);
    if (row.provider.empty() || !purchase || wrong) {
      return sink.refuse(row.provider.empty() ? "no provider: add a column or name it with --provider"
                         : !purchase          ? "purchase is not on-demand, spot, 1y, 3y or capacity-block"
                                              : *wrong,
                         row.instance, row.line);
    }
    row.purchase = *purchase;
    sink.take(std::move(row));
  });
}

}  // namespace

std::vector<Feed> own_table() {
  return {{{"csv", "your own table: provider,instance,region,purchase,price[,currency,zone,date,gpu,gpus,note]", false},
           false,
           read_own_table}};
}

}  // namespace rightsize::feeds
