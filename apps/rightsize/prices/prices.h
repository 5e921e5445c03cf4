// What the verbs of `rightsize prices` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feeds/import.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct PricesFlags {
  std::vector<std::string> words;  // a verb and what it is about, or GPUs
  std::string gpu, provider, region, purchase, min_memory, sort = "usd-per-gpu-hour", best_per, catalog;
  PriceFlag price;
  int top = -1;
  bool retired = false, community = false;
  std::string feed, date, store, from, to, before, instance, zone, url, write_to;
  bool dry_run = false;
  double hours = 0;  // spot: of work
  int machines = 1;
  std::string save = "60s", restart = "10min";
  std::optional<double> interruptions;  // per hour of one machine
};

// The offers --gpu, --provider, --region, --purchase, --retired and --community mean.
Result<market::OfferFilter> read_filter(const PricesFlags& flags, const catalog::Catalog& catalog);

Checked<Outcome> list_prices(const PricesFlags& flags);
Checked<Outcome> compare_prices(const PricesFlags& flags);
Checked<Outcome> plan_on_spot(const PricesFlags& flags);
Checked<Outcome> import_prices(const PricesFlags& flags, const std::vector<std::string>& files);
Checked<Outcome> update_prices(const PricesFlags& flags);
Checked<Outcome> price_history(const PricesFlags& flags);
Checked<Outcome> price_diff(const PricesFlags& flags);
Checked<Outcome> forget_prices(const PricesFlags& flags);

// The account of one import as sentences and as JSON.
void report_audit(const feeds::Audit& audit, const std::string& what, report::Report& report);
Json audit_json(const feeds::Audit& audit);

}  // namespace rightsize::app
