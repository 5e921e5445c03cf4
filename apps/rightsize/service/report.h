// What `rightsize service` says: sentences and tables for people, the document for scripts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rightsize/input/speed_input.h"
#include "rightsize/service/input.h"

namespace rightsize::app {

// Everything found out about one service.
struct SizedService {
  live_service::ServiceReading reading;
  live_service::Description description;
  std::optional<live_service::ServedModel> model;
  std::optional<live_service::LearnedSpeed> learned;
  std::optional<live_service::RightSize> sized;
  std::vector<std::string> notes;  // what is missing, and how to give it
};

struct ServiceFacts {
  std::vector<SizedService> services;
  std::vector<std::string> notes;
  std::string source;  // "http://prometheus:9090: 7 d, 120 requests"
  double from = 0, until = 0;
};

report::Report service_report(const ServiceInput& input, const ServiceFacts& facts);
report::Json service_document(const ServiceInput& input, const ServiceFacts& facts);

// Reads and sizes what the input asks for.
Checked<ServiceFacts> run_services(const ServiceInput& input, const Facts& facts, const market::PriceBook& book);

// The services' numbers as Prometheus metrics, for `rightsize exporter`.
std::string service_metrics(const ServiceFacts& facts);

// One thing that would make the plans surer.
struct Surer {
  std::string_view what;  // window, histograms, buckets, speed, price
  std::string text;
};
std::vector<Surer> surer(const SizedService& one);

// The plan a user should take first: the cheapest of all that saves, else the first that keeps the SLOs.
const live_service::SizedPlan* best_plan(const SizedService& one);

}  // namespace rightsize::app
