// The report of `rightsize service`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rightsize/input/speed_input.h"
#include "rightsize/service/input.h"

namespace rightsize::app {

struct SizedService {
  live_service::ServiceReading reading;
  live_service::Description description;
  std::optional<live_service::ServedModel> model;
  std::optional<live_service::LearnedSpeed> learned;
  std::optional<live_service::RightSize> sized;
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

// The services' numbers as Prometheus metrics, for `rightsize exporter`.
std::string service_metrics(const ServiceFacts& facts);

// Something that would raise the confidence in the plans.
struct ConfidenceStep {
  std::string_view what;  // window, histograms, buckets, speed, price
  std::string text;
};
std::vector<ConfidenceStep> confidence_steps(const SizedService& one);

std::optional<double> usd_per_million_output_tokens(const SizedService& one);

// The plan to take first: the cheapest that saves money, otherwise the cheapest that meets the SLOs.
const live_service::SizedPlan* best_plan(const SizedService& one);

}  // namespace rightsize::app
