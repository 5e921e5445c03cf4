// CSV catalogues that need no arithmetic: gpuhunt's and our own.
#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "feeds/csv_stream.h"
#include "feeds/readers.h"

namespace rightsize::feeds {
namespace {

Result<CsvColumns> read_header(CsvStream& csv, const Source& source, std::initializer_list<const char*> needed,
                               const char* what) {
  std::string_view record;
  while (csv.next(record) && record.starts_with('#')) continue;
  if (csv.failed()) return fail(csv.error());
  if (record.empty()) return fail(bad_input(source.file + ": the file is empty"));
  CsvColumns columns(record);
  for (const char* name : needed) {
    if (columns.has(name)) continue;
    return fail(bad_input(fmt::format("not {}: no column {}", what, name))
                    .at({source.file, static_cast<int>(csv.line()), 1, 1, std::string(record.substr(0, 100))}));
  }
  return columns;
}

}  // namespace

// instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,...
Result<> read_gpuhunt(const Source& source, FeedSink& sink) {
  CsvStream csv(source.bytes, source.file);
  RIGHTSIZE_TRY(const CsvColumns columns,
                read_header(csv, source, {"instance_name", "location", "price", "gpu_count", "gpu_name", "spot"},
                            "a gpuhunt catalogue"));
  std::vector<std::string_view> cells;
  for (std::string_view record; csv.next(record);) {
    split_csv(record, cells);
    const auto cell = [&](const char* name) { return columns.cell(cells, name); };
    if (cell_number(cell("gpu_count")).value_or(0) <= 0) {
      sink.pass();
      continue;
    }
    FeedRow row;
    row.provider =
        columns.has("provider") && !cell("provider").empty() ? std::string(cell("provider")) : source.options.provider;
    row.instance = cell("instance_name");
    row.region = cell("location");
    row.gpu = cell("gpu_name");
    row.gpus = cell_number(cell("gpu_count"));
    row.vcpus = cell_number(cell("cpu"));
    row.memory_gib = cell_number(cell("memory"));
    row.gpu_memory_gib = cell_number(cell("gpu_memory"));
    if (row.provider == "vastai") row.provider = "vast";
    row.community = resells(row.provider);
    row.purchase = to_lower(cell("spot")) == "true" ? catalog::Purchase::kSpot : catalog::Purchase::kOnDemand;
    row.line = csv.line();
    const std::optional<double> price = cell_number(cell("price"));
    if (!price || row.provider.empty()) {
      sink.refuse(price ? "no provider: name it with --provider" : "price is not a number", row.instance, row.line);
      continue;
    }
    row.usd_per_hour = *price;
    sink.take(std::move(row));
  }
  if (csv.failed()) return fail(csv.error());
  return {};
}

// The columns of data/prices/*.csv, with a provider: provider,instance,region,zone,purchase,price,date,note and, for
// machines the catalogue does not know, gpu,gpus,vcpus,memory.
Result<> read_own_csv(const Source& source, FeedSink& sink) {
  CsvStream csv(source.bytes, source.file);
  RIGHTSIZE_TRY(const CsvColumns columns,
                read_header(csv, source, {"instance", "region", "purchase", "price"}, "a price table of ours"));
  std::vector<std::string_view> cells;
  for (std::string_view record; csv.next(record);) {
    split_csv(record, cells);
    const auto cell = [&](const char* name) { return columns.cell(cells, name); };
    FeedRow row;
    row.provider = cell("provider").empty() ? source.options.provider : std::string(cell("provider"));
    row.instance = cell("instance");
    row.region = cell("region");
    row.zone = cell("zone");
    row.gpu = cell("gpu");
    row.gpus = cell_number(cell("gpus"));
    row.vcpus = cell_number(cell("vcpus"));
    row.note = cell("note");
    row.line = csv.line();
    if (const Result<Bytes> memory = parse_bytes(cell("memory"))) row.memory_gib = in_gib(*memory);
    if (const Result<Date> date = parse_date(cell("date"))) row.date = *date;
    const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(cell("purchase"));
    // A bare number is dollars an hour, as in every other feed.
    const std::optional<double> bare = cell_number(cell("price"));
    const Result<UsdPerMachineSecond> rate = parse_usd_per_machine_hour(cell("price"));
    if (row.provider.empty() || !purchase || (!bare && !rate)) {
      sink.refuse(row.provider.empty() ? "no provider: add a column or name it with --provider"
                  : !purchase          ? "purchase is not on-demand, spot, 1y, 3y or capacity-block"
                                       : "price is not a number",
                  row.instance, row.line);
      continue;
    }
    row.purchase = *purchase;
    row.usd_per_hour = bare ? *bare : in_usd_per_machine_hour(*rate);
    sink.take(std::move(row));
  }
  if (csv.failed()) return fail(csv.error());
  return {};
}

}  // namespace rightsize::feeds
