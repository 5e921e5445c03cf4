// gpuhunt's catalogue: CSV with one row per price.
#include "base/text.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

constexpr RowColumns kGpuhuntColumns{"instance_name", "location", "",       "gpu_name",
                                     "gpu_count",     "cpu",      "memory", "gpu_memory"};

Result<> read_gpuhunt(const FeedInput& input, FeedSink& sink) {
  return read_rows(input, {"instance_name", "location", "price", "gpu_count", "gpu_name", "spot"},
                   "a gpuhunt catalogue", [&](const TableRow& table) {
                     FeedRow row = row_of(table, kGpuhuntColumns, std::string(table["provider"]));
                     if (row.gpus.value_or(0) <= 0) return sink.pass();
                     if (row.provider.empty()) row.provider = input.provider;
                     if (row.provider == "vastai") row.provider = "vast";
                     row.community = resells(row.provider);
                     if (to_lower(table["spot"]) == "true") row.purchase = catalog::Purchase::kSpot;
                     const std::optional<double> price = table.number("price");
                     if (row.provider.empty())
                       return sink.refuse("no provider: name it with --provider", row.instance, row.line);
                     if (!price) return sink.refuse("price is not a number", row.instance, row.line);
                     row.usd_per_hour = *price;
                     row.currency = input.currency;
                     sink.take(std::move(row));
                   });
}

}  // namespace

std::vector<Feed> gpuhunt() {
  return {{{"gpuhunt", "gpuhunt catalogue, CSV", true, true}, true, read_gpuhunt, "instance_name gpu_count"}};
}

}  // namespace rightsize::feeds
