// Shared by the verbs of `rightsize prices`.
#pragma once

#include <string>
#include <vector>

#include "base/format.h"
#include "feeds/import.h"
#include "report/fields.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct PricesFlags {
  std::vector<std::string> words;  // a verb and its arguments, or GPUs
  std::string gpu, provider, region, purchase, sort, best_per, catalog;
  std::optional<Bytes> min_memory;
  std::optional<double> max_price, paid;  // USD per GPU-hour
  std::optional<double> budget;           // how long it lasts
  bool machine_limit = false;             // ... or of a machine: "8xH100", at most "$20/h"
  PriceFlag price;
  std::optional<int> top;
  bool retired = false, community = false;
  std::string feed, store, instance, exclude, zone, url, write_to, currency;
  std::optional<Date> date, from, to, before;
  bool dry_run = false;
  std::optional<Seconds> hours;        // of work
  std::optional<int> gpus;             // for `list`: GPUs during those hours
  int machines = 1, machine_gpus = 0;  // machines together; only machines with this many GPUs
  Seconds save, restart, checkpoint_every;
  std::optional<double> interruptions;  // per hour and machine
  std::string on_prem;                  // `buy`
  std::optional<int> on_prem_machines;
  double kwh_price = 0, pue = 1, busy = 1;
};

// `prices aws p5.48xlarge h100 spot`: sorts arguments into GPUs, providers, terms, machines and regions.
PricesFlags sorted_out(PricesFlags flags, const catalog::Catalog& catalog);
// Drops unknown providers, regions and GPUs from lists that also have known ones, with a note.
PricesFlags with_known_names(PricesFlags flags, const catalog::Catalog& catalog);
// The column of --sort that these words mean: "price-per-gb" is usd-per-gib-hour. The words themselves if none.
std::string sort_key_meant(const std::string& words);
// The filter of --gpu, --provider, --region, --purchase, --retired and --community.
Result<market::OfferFilter> read_filter(const PricesFlags& flags, const catalog::Catalog& catalog);
// Which of several providers or regions have no such offer; empty: each has one.
std::string missing_sentence(const PricesFlags& flags, const market::PriceBook& book);

Checked<Outcome> list_prices(const PricesFlags& flags);
Checked<Outcome> compare_prices(const PricesFlags& flags);
Checked<Outcome> plan_on_spot(PricesFlags flags);
Checked<Outcome> buy_or_rent(const PricesFlags& flags);
Checked<Outcome> import_prices(const PricesFlags& flags, const std::vector<std::string>& files);
Checked<Outcome> update_prices(const PricesFlags& flags);
Checked<Outcome> price_history(const PricesFlags& flags);
Checked<Outcome> price_diff(const PricesFlags& flags);
Checked<Outcome> forget_prices(const PricesFlags& flags);

// Provider, instance, GPUs and place of an offer.
extern const report::Fields<market::Offer> kOfferFields;
// The likely price of an offer, with its interval.
extern const report::Fields<market::PriceOutlook> kOutlookFields;

// A report without rows, and why it has none.
Outcome nothing_found(Outcome outcome, std::string why);
// "us-east-1 use1-az4", or the region alone.
std::string place_of(const std::string& region, const std::string& zone);
// Empty text becomes null in JSON.
std::optional<std::string> text_or_null(const std::string& text);
// "aws,gcp" -> its words.
std::vector<std::string> words_of(const std::string& list);
inline std::string usd_rate(double per_hour) { return format_usd_per_hour(per_hour); }
// At most --top rows.
template <class Row>
void keep_top(std::vector<Row>& rows, std::optional<int> top) {
  const auto most = static_cast<std::size_t>(top.value_or(0));
  if (most > 0 && rows.size() > most) rows.resize(most);
}

}  // namespace rightsize::app
