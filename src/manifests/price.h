// What a request costs and whether it can be had as asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "catalog/catalog.h"
#include "manifests/request.h"
#include "market/price_book.h"

namespace rightsize::manifests {

struct Assumptions {
  const catalog::Gpu* gpu = nullptr;     // where a request does not say which
  std::optional<Seconds> job_time = {};  // what a job runs in a month; nothing: all month
};

struct Cost {
  std::optional<UsdPerSecond> rate = {};     // while it runs; nothing: not known, see `doubts`
  std::optional<UsdPerSecond> most = {};     // where something scales it
  std::optional<UsdPerSecond> monthly = {};  // with a job's time in a month; all month where that is not known
  bool all_month_assumed = false;            // a job whose time nobody says
  std::optional<Usd> run = {};               // of a job with a time limit, at most
  const catalog::Gpu* gpu = nullptr;         // what it is priced as
  std::optional<double> gpus = {};           // of the whole request; a slice counts as its share
  std::string source = {};                   // of the price
  std::vector<std::string> doubts = {};      // why it is not known, or what it rests on
  std::vector<std::string> misfits = {};     // why it cannot run as asked
};

Cost price_of(const GpuRequest& request, const market::PriceBook& book, const Assumptions& assumptions);

}  // namespace rightsize::manifests
