#include "market/energy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "market/own_hardware.h"

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

// Means that the providers publish, read 2025-10-16: sustainability.aboutamazon.com, datacenters.microsoft.com,
// datacenters.google/efficiency. Others publish none, so they get the default of --pue.
double pue_of(std::string_view provider) {
  if (provider == "aws") return 1.15;
  if (provider == "azure") return 1.16;
  if (provider == "gcp") return 1.09;
  return OwnHardware{}.power_usage_effectiveness;
}

Checked<std::vector<double>> parse_hours(const std::string& file, std::string text) {
  constexpr std::size_t kHours = 24;
  constexpr double kMost = 1e6;
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, std::move(text)));
  const std::vector<std::string>& header = csv.header();
  if (header.size() != 2 || header[0] != "hour")
    return fail(Errors(bad_input(fmt::format("{}: columns must be hour and a value", file))
                           .with_hint("for example: hour,usd_per_kwh or hour,grams_per_kwh")));
  std::vector<double> values;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const Result<double> hour = parse_number(csv.cell(row, "hour")), value = parse_number(csv.cell(row, header[1]));
    if (!hour || *hour != static_cast<double>(values.size()))
      errors.push_back(bad_input("hours must count up from 0, one per row").at(csv.place(row, "hour")));
    if (!value || !(std::abs(*value) <= kMost))
      errors.push_back(bad_input("the value must be a number").at(csv.place(row, header[1])));
    values.push_back(value.value_or(0));
  }
  if (errors.empty() && values.size() != kHours)
    errors.push_back(bad_input(fmt::format("{}: {} rows; a day has 24 hours", file, values.size())));
  if (!errors.empty()) return fail(std::move(errors));
  return values;
}

Checked<std::vector<double>> read_hours(std::string_view name, const std::string& text) {
  if (const Result<double> same = parse_number(text)) {
    if (*same >= 0) return std::vector<double>(24, *same);
    return fail(Errors(bad_input(fmt::format("--{} of {} must be 0 or more", name, text))));
  }
  Result<std::string> content = read_file(text);
  if (!content)
    return fail(
        Errors(bad_input(fmt::format("--{} of '{}' is neither a number nor a file that can be read", name, text))
                   .with_hint("a file has 24 rows of hour and value")));
  return parse_hours(text, *std::move(content));
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
