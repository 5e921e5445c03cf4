// market_backtest ROOT [--write]: fits the constants of data/price_outlook.csv to the prices in data/measurements and
// prints what different ways to choose would have paid, month by month. --write rewrites the file.
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "backtest.h"
#include "fit_outlook.h"

int main(int count, char** words) {
  using namespace rightsize;
  if (count < 2) {
    fmt::print(stderr, "usage: market_backtest ROOT [--write]\n");
    return 1;
  }
  const std::string root = words[1];
  const Result<market_tools::History> history =
      market_tools::read_history(root + "/data/measurements/aws-gpu-daily-prices.csv.gz");
  if (!history) {
    fmt::print(stderr, "{}", describe(history.error()));
    return exit_code(history.error());
  }
  const std::string table =
      market_tools::to_csv(market_tools::fit_outlook(*history, history->days.back() + 1), *history);
  if (count > 2 && std::string(words[2]) == "--write") {
    std::ofstream(root + "/data/price_outlook.csv") << table;
  } else {
    fmt::print("{}\n", table);
  }
  for (const int age : {1, 28, 85}) {
    fmt::print("{}\n", market_tools::to_markdown(market_tools::backtest_choice(*history, age), age));
  }
  // GCP's one-year commitments in data/prices/gcp.csv have a discount of 37 %; those of AWS and Azure are similar.
  for (const double discount : {0.28, 0.37}) {
    fmt::print("{}\n", market_tools::to_markdown(market_tools::backtest_commitment(*history, discount), discount));
  }
  return 0;
}
