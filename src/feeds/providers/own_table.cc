// The user's own prices, with the columns of data/prices/*.csv and a provider: provider,instance,region,zone,purchase,
// price,currency,date,note and, for machines that are not in the catalogue, gpu,gpus,vcpus,memory. Lists of quotes may
// call them vendor, term, location and price_eur_per_gpu_hour, and name a GPU instead of an instance.
#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/hourly_amount.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

constexpr RowColumns kOwnColumns{"instance", "region", "zone", "gpu", "gpus", "vcpus", "", ""};

// The column of the price: "price", "EUR per GPU-hour", "hourly_rate".
struct PriceColumn {
  bool found = false, per_gpu = false;
  std::string currency;

  // False if the title is of another column.
  bool take(std::string_view title, const catalog::Catalog& catalog) {
    PriceColumn read{true, false, {}};
    bool price = false, hourly = false;
    std::string words = to_lower(title);
    std::ranges::replace_if(
        words, [](char c) { return c == '_' || c == '-' || c == '/' || c == '(' || c == ')'; }, ' ');
    for (const std::string_view word : split_list(words, ' ')) {
      if (word == "price" || word == "cost" || word == "rate") {
        price = true;
      } else if (word == "hour" || word == "h" || word == "hr" || word == "hourly") {
        hourly = true;
      } else if (word == "gpu") {
        read.per_gpu = true;
      } else if (word != "per" && word != "in" && !word.empty()) {
        const Result<std::string> code = catalog::parse_currency(word);
        if (!code || !catalog.exchange_rate(*code, today())) return false;
        read.currency = *code;
      }
    }
    if (found || !(price || (hourly && !read.currency.empty()))) return false;
    *this = read;
    return true;
  }
};

std::string meant(std::string_view title, PriceColumn& price, const catalog::Catalog& catalog) {
  static constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"vendor", "provider"}, {"cloud", "provider"}, {"term", "purchase"}, {"terms", "purchase"},
      {"location", "region"}, {"gpu_count", "gpus"}, {"gpu_type", "gpu"},  {"instance_type", "instance"}};
  if (price.take(title, catalog)) return "price";
  const std::string name = to_lower(title);
  const auto other = std::ranges::find(kOther, name, [](const auto& row) { return row.first; });
  return other == std::end(kOther) ? name : std::string(other->second);
}

// The GPUs of a machine; empty if neither the row nor the catalogue has them.
std::optional<double> gpus_of(const FeedRow& row, const catalog::Catalog& catalog) {
  if (row.gpus) return row.gpus;
  const catalog::Machine* machine = KnownMachines(catalog, row.provider).find(row.instance);
  return machine == nullptr ? std::nullopt : std::optional<double>(machine->gpus);
}

// "Nebius", 8 x "H100 SXM" -> nebius 8xh100-sxm
void name_machine(FeedRow& row, const catalog::Catalog& catalog) {
  if (catalog.find_provider(to_lower(row.provider)) != nullptr) row.provider = to_lower(row.provider);
  if (!row.instance.empty() || row.gpu.empty()) return;
  row.gpus = row.gpus.value_or(1);
  row.instance = to_lower(fmt::format("{:g}x{}", *row.gpus, row.gpu));
  std::ranges::replace(row.instance, ' ', '-');
}

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
  PriceColumn price;
  const auto take = [&](const TableRow& table) {
    FeedRow row = row_of(table, kOwnColumns, std::string(table["provider"]));
    if (row.provider.empty()) row.provider = input.provider;
    name_machine(row, input.catalog);
    row.currency = price.currency;
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
    const std::optional<double> gpus = price.per_gpu ? gpus_of(row, input.catalog) : 1;
    if (!gpus) return sink.refuse("a price per GPU needs a column gpus", row.instance, row.line);
    row.usd_per_hour *= *gpus;
    sink.take(std::move(row));
  };
  return read_rows(input, {"region", "purchase", "price"}, "a price table", take,
                   [&](std::string_view title) { return meant(title, price, input.catalog); });
}

}  // namespace

std::vector<Feed> own_table() {
  return {{{"csv", "your own table: provider,instance,region,purchase,price[,currency,zone,date,gpu,gpus,note]", false},
           false,
           read_own_table}};
}

}  // namespace rightsize::feeds
