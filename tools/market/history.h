// 16 months of daily prices of AWS GPU machines by zone. The constants of price_outlook.csv are fitted to them, and the
// rules of src/market are tested on them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "base/result.h"

namespace rightsize::market_tools {

struct DayPrice {
  double spot = 0, on_demand = 0;  // dollars per hour of the machine
};

struct ZoneSeries {
  std::string instance, region, zone, gpu;
  double gpus = 0;
  std::map<int, DayPrice> days;  // by day since 1970

  const DayPrice* on(int day) const {
    const auto found = days.find(day);
    return found == days.end() ? nullptr : &found->second;
  }
};

struct History {
  std::vector<ZoneSeries> zones;
  std::vector<int> days;                                    // days with readings
  std::map<std::string, std::vector<std::size_t>> machine;  // zones by instance
};

// The file of data/measurements, gzip-compressed CSV: date,instance,gpu,gpu_count,region,az,od,spot.
Result<History> read_history(const std::string& path);

// The median over a machine's zones on a day, without those at the floor if there are others; empty without readings.
std::optional<double> median_on(const History& history, const std::string& instance, int day);

double quantile(std::vector<double> values, double q);
double mean(const std::vector<double>& values);

}  // namespace rightsize::market_tools
