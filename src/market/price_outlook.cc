#include "market/price_outlook.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"

namespace rightsize::market {
namespace {

Result<OutlookRow> read_row(const Csv& csv, const CsvRow& row) {
  OutlookRow read;
  const std::pair<const char*, double*> cells[] = {{"age_days", &read.age_days},
                                                   {"weight", &read.weight},
                                                   {"low", &read.low},
                                                   {"likely", &read.likely},
                                                   {"high", &read.high}};
  for (const auto& [column, value] : cells) {
    Result<double> number = parse_number(csv.cell(row, column));
    if (!number) return fail(std::move(number).error().at(csv.place(row, column)));
    *value = *number;
  }
  return read;
}

double between(double a, double b, double share) { return a + (b - a) * share; }

}  // namespace

bool is_spot_floor(double spot, double on_demand) {
  // Feeds round to four decimals of a dollar.
  return on_demand > 0 && std::fabs(spot - on_demand / 10) <= std::max(1e-4, on_demand / 10 * 5e-4);
}

Checked<OutlookTable> OutlookTable::parse(std::string_view file, std::string_view text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(std::string(file), std::string(text)));
  OutlookTable table;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const std::string_view kind = csv.cell(row, "kind");
    std::vector<OutlookRow>* rows = kind == "list"    ? &table.list
                                    : kind == "spot"  ? &table.spot
                                    : kind == "cheap" ? &table.cheap
                                    : kind == "floor" ? &table.floor
                                                      : nullptr;
    if (rows == nullptr) {
      errors.push_back(bad_input("kind must be list, spot, cheap or floor").at(csv.place(row, "kind")));
      continue;
    }
    Result<OutlookRow> read = read_row(csv, row);
    if (!read) {
      errors.push_back(std::move(read).error());
    } else if (!rows->empty() && rows->back().age_days >= read->age_days) {
      errors.push_back(bad_input("ages of a kind must increase").at(csv.place(row, "age_days")));
    } else {
      rows->push_back(*read);
    }
  }
  if (table.list.empty() || table.spot.empty() || table.cheap.empty() || table.floor.empty()) {
    errors.push_back(bad_input(fmt::format("{}: needs rows of list, spot, cheap and floor", file)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return table;
}

const OutlookTable& OutlookTable::built_in() {
  static const OutlookTable kTable =
      *parse("data/price_outlook.csv", embedded_file("price_outlook.csv"));  // a test parses it
  return kTable;
}

// Between two ages in a straight line, beyond the last as at the last: nothing was measured there.
OutlookRow OutlookTable::at(const PriceReading& reading) const {
  const double age_days = reading.age_days;
  const std::vector<OutlookRow>& rows = reading.kind == PriceReading::kList    ? list
                                        : reading.kind == PriceReading::kFloor ? floor
                                        : reading.now < reading.median         ? cheap
                                                                               : spot;
  const auto after = std::upper_bound(rows.begin(), rows.end(), age_days,
                                      [](double age, const OutlookRow& row) { return age < row.age_days; });
  if (after == rows.begin()) return rows.front();
  if (after == rows.end()) return rows.back();
  const OutlookRow &a = *(after - 1), &b = *after;
  const double share = (age_days - a.age_days) / (b.age_days - a.age_days);
  return {age_days, between(a.weight, b.weight, share), between(a.low, b.low, share),
          between(a.likely, b.likely, share), between(a.high, b.high, share)};
}

PriceInterval OutlookTable::predict(const PriceReading& reading) const {
  const OutlookRow row = at(reading);
  const double centre = reading.fresh.value_or(reading.median * std::pow(reading.now / reading.median, row.weight));
  PriceInterval found{centre * row.low, centre * row.likely, centre * row.high};
  // Beside fresh rows an outdated one only widens the interval.
  if (reading.fresh) {
    found.low = std::min(found.low, reading.now);
    found.high = std::max(found.high, reading.now);
  }
  if (reading.most) {
    found.low = std::min(found.low, *reading.most);
    found.likely = std::min(found.likely, *reading.most);
    found.high = std::min(found.high, *reading.most);
  }
  found.likely = std::clamp(found.likely, found.low, found.high);
  return found;
}

}  // namespace rightsize::market
