// What a service is: its traffic, its requests, its latency against its SLOs, its GPUs and what they cost.
#pragma once

#include <optional>
#include <vector>

#include "capacity/service.h"
#include "catalog/catalog.h"
#include "live_service/reading.h"
#include "market/price_book.h"

namespace rightsize::live_service {

// The mean and percentiles of something; what no histogram tells is missing.
struct Spread {
  std::optional<double> mean;
  std::optional<Quantile> p50, p95, p99;
};

struct SloVerdict {
  capacity::Slo slo;
  std::optional<Quantile> over;  // share of requests above the limit: likely, and as far as buckets leave it open
  std::optional<bool> kept;      // nothing: the engine does not publish it
  bool sure = false;             // whatever the buckets hide
};

struct Description {
  double requests_per_second = 0;
  double peak_hour = 0;         // requests a second in the busiest clock hour of the window
  double peak_hour_begin = 0;   // seconds since 1970
  double burst = 1;             // the busiest five minutes over the busiest hour
  std::vector<double> by_hour;  // requests a second, each hour of the day (UTC), mean
  Spread isl, osl, ttft, tpot, latency;
  Signal tpot_source = Signal::kTpot;
  std::optional<double> prefix_hit;  // share of prompt tokens
  std::optional<double> preemptions;
  std::vector<SloVerdict> slos;
  std::optional<bool> slo_kept;
  double output_tokens = 0;  // over the window

  const catalog::Gpu* gpu = nullptr;  // nothing: not known
  int gpus_per_replica = 1;
  int replicas = 0, gpus = 0;       // at the window's end
  std::optional<double> gpu_hours;  // over the window
  std::optional<market::GpuQuote> price;
  std::optional<Usd> spend;  // over the window
  std::optional<Usd> month;  // the same for 730 hours
  std::vector<std::string> notes;
};

// Where metrics do not tell the GPUs, the user does.
struct KnownGpus {
  const catalog::Gpu* gpu = nullptr;
  std::optional<int> per_replica;
};

Description describe(const ServiceReading& reading, const std::vector<capacity::Slo>& slos,
                     const catalog::Catalog& catalog, const market::PriceBook& book, const KnownGpus& known = {});

}  // namespace rightsize::live_service
