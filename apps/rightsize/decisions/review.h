// Whether live decisions still hold: prices, utilization, and what would be chosen today.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decisions/ledger.h"
#include "market/price_book.h"
#include "perf/perf.h"

namespace rightsize::app {

struct Alert {
  std::string kind;  // "price", "utilization", "cheaper"
  decisions::Summary decision;
  std::string words;
  std::optional<Usd> saving = {};  // a month or a run, of the other choice
};

struct ReviewLimits {
  double cheaper = 0.2, price_change = 0.05, drift = 0.2;
};

struct Review {
  std::vector<Alert> alerts;
  std::size_t reviewed = 0;
  std::vector<std::string> not_asked_again;  // "D3 (chat): the plan does not say what was asked"
};

// Looks at one decision and adds what it finds.
void review_price(const decisions::Decision& decision, const catalog::Catalog& catalog, const ReviewLimits& limits,
                  Review& review);
void review_use(const decisions::Decision& decision, const std::vector<decisions::Sample>& samples,
                const ReviewLimits& limits, Review& review);
void review_choice(const decisions::Decision& decision, const catalog::Catalog& catalog,
                   const perf::Constants& constants, const ReviewLimits& limits, Review& review);

}  // namespace rightsize::app
