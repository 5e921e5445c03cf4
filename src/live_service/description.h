// Describes a service: traffic, request lengths, latency against its SLOs, GPUs and cost.
#pragma once

#include <optional>
#include <vector>

#include "capacity/service.h"
#include "catalog/catalog.h"
#include "live_service/reading.h"
#include "market/price_book.h"

namespace rightsize::live_service {

// Mean and percentiles; empty if the engine publishes no histogram.
struct Percentiles {
  std::optional<double> mean;
  std::optional<Quantile> p50, p95, p99;
};

struct SloVerdict {
  capacity::Slo slo;
  std::optional<Quantile> over;  // share of requests above the limit, with the range that the buckets leave
  std::optional<bool> kept;      // empty: not published
  bool sure = false;             // true over the whole range of `over`
};

SloVerdict verdict_of(const ServiceReading& reading, const capacity::Slo& slo);

struct Description {
  double requests_per_second = 0;
  double peak_hour = 0;         // requests per second in the busiest clock hour
  double peak_hour_begin = 0;   // seconds since 1970
  double burst = 1;             // rate of the busiest five minutes over that of the busiest hour
  std::vector<double> by_hour;  // mean requests per second in each hour of the day (UTC)
  Percentiles isl, osl, ttft, tpot, latency;
  Signal tpot_source = Signal::kTpot;
  std::optional<double> prefix_hit;  // share of prompt tokens
  // The parts found in GPU memory and loaded from lower tiers, if the engine distinguishes them.
  std::optional<double> gpu_hit, external_hit;
  std::optional<double> preemptions;
  std::vector<SloVerdict> slos;
  std::optional<bool> slo_kept;
  double output_tokens = 0;  // over the window

  const catalog::Gpu* gpu = nullptr;  // null: unknown
  int gpus_per_replica = 1;
  int replicas = 0, gpus = 0;       // at the end of the window
  std::optional<double> gpu_hours;  // over the window
  std::optional<market::GpuQuote> price;
  std::optional<Usd> spend;        // over the window
  std::optional<Usd> month;        // the same for 730 hours
  std::optional<Watts> gpu_power;  // mean of a GPU over the window; not set: not reported

  // The energy of all GPUs over the window; GPUs without a reading count with the mean of the others.
  std::optional<Joules> energy() const;
  std::optional<Joules> energy_per_token() const;  // per output token
  std::vector<std::string> notes;
};

// GPUs given by the user if the metrics do not identify them.
struct KnownGpus {
  const catalog::Gpu* gpu = nullptr;
  std::optional<int> per_replica;
};

Description describe(const ServiceReading& reading, const std::vector<capacity::Slo>& slos,
                     const catalog::Catalog& catalog, const market::PriceBook& book, const KnownGpus& known = {});

}  // namespace rightsize::live_service
