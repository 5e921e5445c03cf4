// Cheaper ways to run a service: fewer replicas, replicas by the hour, other GPUs, layouts and precisions. Each plan is
// simulated with the service's own traffic and meets its SLOs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "capacity/assessment.h"
#include "live_service/learn_speed.h"
#include "live_service/traffic.h"
#include "plan/plan.h"

namespace rightsize::live_service {

enum class SizeChange {
  kReplicas,  // a different number of replicas on the same GPUs
  kSchedule,  // replicas by the hour of the day
  kLayout,    // fewer GPUs per replica
  kMove,      // other machines or another precision
};
std::string_view name_of(SizeChange kind);

struct SizedPlan {
  SizeChange kind = SizeChange::kReplicas;
  const catalog::Gpu* gpu = nullptr;
  int replicas = 1, gpus = 1, tensor = 1;  // for a schedule: at its peak
  model::Precision precision = model::Precision::kBf16;
  Seconds ttft, tpot;                            // simulated, at the percentile
  double running = 0;                            // mean running requests per replica at the peak
  double load = 0;                               // share of the capacity at the peak
  std::int64_t sequences = 0, token_budget = 0;  // limits of the engine
  Usd month;
  perf::Interval interval;         // factors on the monthly cost
  perf::Interval speed;            // factors on the times
  std::array<int, 24> schedule{};  // replicas in each hour of the day (UTC), for kSchedule
  std::optional<plan::Plan> move;  // the machines to rent, for kMove
  std::string price_source;
};

// A larger prefix cache, on the current GPUs.
struct LargerCache {
  double prefix_hit = 0;  // if half of the prompt tokens computed today were hits
  int gpus_saved = 0;
};

struct RightSize {
  PeakTraffic traffic;
  std::optional<double> headroom;             // unused share of the current replicas' capacity in the busiest hour
  std::optional<capacity::Assessment> as_is;  // simulation of the current replicas
  std::optional<LargerCache> larger_cache = {};
  std::vector<capacity::Slo> held;          // without SLOs: today's latency, which every plan keeps
  std::string unexplained;                  // why the plans cannot be trusted; empty: they can
  std::vector<SizedPlan> plans;             // cheapest first; all meet every SLO
  std::optional<std::size_t> first_change;  // the cheapest on the current GPUs, if it saves money
  std::optional<std::size_t> best;          // the cheapest of all, if it saves money
  std::optional<plan::Request> request;     // the request to `recommend`, for the files of --emit
  std::vector<std::string> notes;
};

struct SizeOptions {
  std::vector<capacity::Slo> slos;  // on TTFT and TPOT
  capacity::Statistic percentile = capacity::Statistic::kP95;
  std::vector<model::Setting> settings;  // other settings of recommend: providers, regions, purchase, precision, gpu
  WhatIf what_if;
  int top = 10;
  bool plans_only = false;  // faster: the ranges of costs are not simulated
};

// Uses the calibrated speed in `learned`, or `constants` without it.
Result<RightSize> right_size(const ServiceReading& reading, const Description& description, const ServedModel& model,
                             const std::optional<LearnedSpeed>& learned, const perf::Constants& constants,
                             const market::PriceBook& book, const SizeOptions& options);

}  // namespace rightsize::live_service
