// What to do with a service: fewer replicas, replicas by the hour, other GPUs, splits and number formats, each
// simulated with the service's own traffic and keeping its SLOs.
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

enum class ChangeKind {
  kReplicas,  // the same GPUs, another number of replicas
  kSchedule,  // ... by the hour of the day
  kLayout,    // the same GPUs, fewer of them to a replica
  kMove,      // other machines, or another format
};
std::string_view name_of(ChangeKind kind);

struct SizedPlan {
  ChangeKind kind = ChangeKind::kReplicas;
  const catalog::Gpu* gpu = nullptr;
  int replicas = 1, gpus = 1, tensor = 1;  // of a schedule: at the busiest hour
  model::Precision precision = model::Precision::kBf16;
  Seconds ttft, tpot;                            // simulated, at the percentile
  double running = 0;                            // requests together on a replica, mean at the busiest time
  double load = 0;                               // of what the replicas can do, at the busiest time
  std::int64_t sequences = 0, token_budget = 0;  // the engine's limits
  Usd month;
  perf::Interval interval;         // factors on the month
  perf::Interval speed;            // factors on the times
  std::array<int, 24> schedule{};  // replicas each hour of the day (UTC), where kind says so
  std::optional<plan::Plan> move;  // the machines to rent
  std::string price_source;
};

struct RightSize {
  PeakTraffic traffic;
  std::optional<double> headroom;             // 0-1 of what today's replicas can do, left at the busiest hour
  std::optional<capacity::Assessment> as_is;  // today's replicas, simulated
  std::string unexplained;                    // why the plans are not to be trusted yet; empty: they are
  std::vector<SizedPlan> plans;               // cheapest first; all keep every SLO
  std::optional<std::size_t> first_change;    // the cheapest without new GPUs, where it saves
  std::optional<std::size_t> best;            // the cheapest of all, where it saves
  std::optional<plan::Request> request;       // what `recommend` was asked, for hand-over
  std::vector<std::string> notes;
};

struct SizeOptions {
  std::vector<capacity::Slo> slos;  // of TTFT and TPOT
  capacity::Statistic percentile = capacity::Statistic::kP95;
  std::vector<model::Setting> settings;  // more of recommend's: providers, regions, purchase, precision, gpu
  WhatIf what_if;
  int top = 10;
};

// `learned` is nothing where the service's own speed is not known; then `constants` are taken as they are.
Result<RightSize> right_size(const ServiceReading& reading, const Description& description, const ServedModel& model,
                             const std::optional<LearnedSpeed>& learned, const perf::Constants& constants,
                             const market::PriceBook& book, const SizeOptions& options);

}  // namespace rightsize::live_service
