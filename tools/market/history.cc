#include "history.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <tuple>

#include <zlib.h>

#include "base/csv.h"
#include "market/price_outlook.h"

namespace rightsize::market_tools {
namespace {

Result<std::string> unzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return fail(unreadable("cannot open " + path));
  std::string text;
  std::vector<char> block(1 << 16);
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  if (got < 0) return fail(unreadable(path + " is not a gzip file"));
  return text;
}

double number(std::string_view cell) { return std::strtod(std::string(cell).c_str(), nullptr); }

}  // namespace

Result<History> read_history(const std::string& path) {
  RIGHTSIZE_TRY(std::string text, unzip(path));
  const Checked<Csv> csv = Csv::parse(path, std::move(text));
  if (!csv) return fail(csv.error().front());
  History history;
  std::map<std::tuple<std::string_view, std::string_view>, std::size_t> index;
  std::set<int> days;
  for (const CsvRow& row : csv->rows()) {
    const DayPrice price{number(csv->cell(row, "spot")), number(csv->cell(row, "od"))};
    if (price.spot <= 0 || price.on_demand <= 0) continue;  // not offered that day
    const std::string_view instance = csv->cell(row, "instance"), zone = csv->cell(row, "az");
    const auto [at, is_new] = index.emplace(std::tuple(instance, zone), history.zones.size());
    if (is_new) {
      history.machine[std::string(instance)].push_back(history.zones.size());
      history.zones.push_back({std::string(instance),
                               std::string(csv->cell(row, "region")),
                               std::string(zone),
                               std::string(csv->cell(row, "gpu")),
                               number(csv->cell(row, "gpu_count")),
                               {}});
    }
    RIGHTSIZE_TRY(const Date date, parse_date(csv->cell(row, "date")));
    history.zones[at->second].days[date.day] = price;
    days.insert(date.day);
  }
  history.days.assign(days.begin(), days.end());
  return history;
}

std::optional<double> median_on(const History& history, const std::string& instance, int day) {
  std::vector<double> all, real;
  for (const std::size_t i : history.machine.at(instance)) {
    const DayPrice* price = history.zones[i].on(day);
    if (price == nullptr) continue;
    all.push_back(price->spot);
    if (!market::is_spot_floor(price->spot, price->on_demand)) real.push_back(price->spot);
  }
  if (all.empty()) return std::nullopt;
  return quantile(real.empty() ? all : real, 0.5);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace rightsize::market_tools
