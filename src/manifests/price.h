// The cost of a request, and whether it can run as written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "catalog/catalog.h"
#include "manifests/request.h"
#include "market/price_book.h"

namespace rightsize::manifests {

struct PriceAssumptions {
  const catalog::Gpu* gpu = nullptr;     // if a request does not name one
  std::optional<Seconds> job_time = {};  // a job's time in a month; empty: all month
  std::string provider = {};             // of files that do not name one
  std::vector<std::string> regions = {};
};

struct Cost {
  std::optional<UsdPerSecond> rate = {};     // while it runs; empty: unknown, see `doubts`
  std::optional<UsdPerSecond> most = {};     // when scaled up
  std::optional<UsdPerSecond> monthly = {};  // with a job's hours in a month; all month if they are unknown
  bool all_month_assumed = false;            // a job without a time limit
  std::optional<Usd> run = {};               // of a job with a time limit, at most
  const catalog::Gpu* gpu = nullptr;         // the GPU it is priced as
  std::optional<double> gpus = {};           // of the whole request; a slice counts as its share
  std::string source = {};                   // of the price
  std::vector<std::string> doubts = {};      // assumptions, or why it is unknown
  std::vector<std::string> misfits = {};     // why it cannot run as written
};

Cost price_of(const GpuRequest& request, const market::PriceBook& book, const PriceAssumptions& assumptions);

}  // namespace rightsize::manifests
