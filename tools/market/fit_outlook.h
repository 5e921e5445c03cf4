// Fits the constants of data/price_outlook.csv to a history of prices.
#pragma once

#include <string>

#include "history.h"
#include "market/price_outlook.h"

namespace rightsize::market_tools {

struct FittedRow : market::OutlookRow {
  std::string kind;
  std::size_t pairs = 0;
};

// From pairs of days before `until`: a reading, and one of the same zone `days` later. Every seventh day starts a pair,
// which reduces overlap and does not change the result. An age with fewer than 100 pairs is left out.
std::vector<FittedRow> fit_outlook(const History& history, int until);

market::OutlookTable to_table(const std::vector<FittedRow>& rows);
std::string to_csv(const std::vector<FittedRow>& rows, const History& history);

}  // namespace rightsize::market_tools
