#include "market/energy.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::market {
namespace {

struct CarbonRow {
  Carbon carbon;
  std::vector<std::string> regions;  // of providers
};

std::vector<CarbonRow> read_rows() {
  std::vector<CarbonRow> rows;
  const Checked<Csv> csv = Csv::parse("data/carbon.csv", std::string(embedded_file("carbon.csv")));
  if (!csv) return rows;
  for (const CsvRow& row : csv->rows()) {
    const auto cell = [&](const char* column) { return std::string(csv->cell(row, column)); };
    CarbonRow made;
    made.carbon = {parse_number(cell("grams_per_kwh")).value_or(0), cell("where"), cell("source"), cell("date")};
    for (std::string_view region : split_list(csv->cell(row, "regions"), '|')) made.regions.emplace_back(region);
    rows.push_back(std::move(made));
  }
  return rows;
}

const std::vector<CarbonRow>& carbon_rows() {
  static const std::vector<CarbonRow> kRows = read_rows();
  return kRows;
}

std::optional<Carbon> carbon_in(std::string_view place) {
  const std::string wanted = to_lower(place);
  for (const CarbonRow& row : carbon_rows()) {
    const bool named = to_lower(row.carbon.where) == wanted ||
                       std::find(row.regions.begin(), row.regions.end(), wanted) != row.regions.end();
    if (named) return row.carbon;
  }
  return std::nullopt;
}

}  // namespace

Result<Watts> read_power(std::string_view name, std::string_view text) {
  constexpr double kMost = 1e12;
  const Result<double> bare = parse_number(text);
  Result<Watts> power = bare ? Result<Watts>(watts(*bare)) : parse_power(text);
  if (power && *power > Watts{} && *power <= watts(kMost)) return power;
  return fail(bad_input(fmt::format("--{} of '{}' is not a power", name, text)).with_hint("write 500W or 20kW"));
}

std::optional<Carbon> CarbonChoice::in(std::string_view region) const {
  return everywhere ? everywhere : carbon_in(region);
}

Result<CarbonChoice> read_carbon(std::string_view text) {
  if (to_lower(text) == "region") return CarbonChoice{};
  if (const Result<double> grams = parse_number(text)) {
    if (*grams >= 0 && *grams <= 5000) return CarbonChoice{Carbon{*grams}};
    return fail(bad_input(fmt::format("--carbon of {} must be between 0 and 5,000 g per kWh", text)));
  }
  if (std::optional<Carbon> found = carbon_in(text)) return CarbonChoice{std::move(found)};
  std::vector<std::string> known;
  for (const CarbonRow& row : carbon_rows()) known.push_back(row.carbon.where);
  return fail(bad_input(fmt::format("no carbon intensity on file for '{}'", text))
                  .with_hint(fmt::format("give grams of CO2 per kWh, 'region', or one of {}", fmt::join(known, ", "))));
}

}  // namespace rightsize::market
