// The report of `rightsize service`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "decisions/evidence.h"
#include "report/fields.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/service/input.h"

namespace rightsize::app {

// The predictions for a scaling policy, and the measurements.
struct Promise {
  decisions::DecisionSummary decision;
  std::vector<decisions::JudgedMetric> metrics;  // measured in the window
};

struct SizedService {
  live_service::ServiceReading reading;
  live_service::Description description;
  std::optional<live_service::ServedModel> model;
  std::optional<live_service::LearnedSpeed> learned;
  std::optional<live_service::RightSize> sized;
  std::optional<Promise> promise;  // a decision about its autoscaling, if there is a ledger
  Electricity electricity = {};
  std::vector<std::string> notes;  // missing information and how to provide it
};

struct ServiceFacts {
  std::vector<SizedService> services;
  std::vector<std::string> notes;
  std::string source;          // "http://prometheus:9090: 7 d, 120 requests"
  double from = 0, until = 0;  // seconds since 1970
  std::string emitted;         // the files of --emit
};

report::Report service_report(const ServiceInput& input, const ServiceFacts& facts);

// Reads the services and sizes them.
Checked<ServiceFacts> run_services(const ServiceInput& input, const Facts& facts, const market::PriceBook& book);

// The services as a file for `rightsize portfolio`; empty if none has a GPU with a price.
std::string organisation_of(const ServiceFacts& facts);

// The services' numbers as Prometheus metrics, for `rightsize exporter`.
std::string service_metrics(const ServiceFacts& facts);

// Something that would raise the confidence in the plans.
struct ConfidenceStep {
  std::string_view what;  // window, histograms, buckets, speed, price
  std::string text;
};
std::vector<ConfidenceStep> confidence_steps(const SizedService& one);

std::optional<double> usd_per_million_output_tokens(const SizedService& one);
// Of its GPUs: measured, or else estimated while requests run.
std::optional<Joules> energy_per_million_output_tokens(const SizedService& one);

// The plan to take first: the cheapest that saves money, otherwise the cheapest that meets the SLOs.
const live_service::SizedPlan* best_plan(const SizedService& one);

struct RankedPlan {
  const live_service::SizedPlan* plan = nullptr;
  std::size_t rank = 1;
  std::optional<Usd> now;  // current monthly cost
};
extern const report::Fields<RankedPlan> kServicePlanFields;

inline std::optional<std::size_t> rank(const std::optional<std::size_t>& index) {
  return index ? std::optional(*index + 1) : std::nullopt;
}

inline std::vector<RankedPlan> ranked_plans(const SizedService& one) {
  std::vector<RankedPlan> all;
  if (!one.sized) return all;
  for (const live_service::SizedPlan& plan : one.sized->plans)
    all.push_back({&plan, all.size() + 1, one.description.month});
  return all;
}

inline std::string machines_shown(const live_service::SizedPlan& p) {
  return p.move ? fmt::format("{} x {} ({})", p.move->machines, p.move->offer.machine->instance,
                              p.move->offer.machine->provider)
                : "current machines";
}

report::Json service_document(const ServiceInput& input, const ServiceFacts& facts);

}  // namespace rightsize::app
