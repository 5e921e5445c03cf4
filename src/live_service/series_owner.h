// Which replica, service and model a series belongs to, from the labels that scrapers add.
#pragma once

#include <string>
#include <vector>

#include "live_service/metric_names.h"
#include "live_service/reading.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::live_service {

struct SeriesOwner {
  std::string space_label, space;  // Kubernetes namespace
  std::string id_label, id;        // pod, else instance
  std::string model_label, model;
  std::string workload;  // the pods' common name; without pods, the service or job
};

SeriesOwner owner_of(const telemetry::Labels& labels, Engine engine);

// Every label that owner_of() uses.
const std::vector<std::string>& owner_labels();

bool belongs_to(const SeriesOwner& owner, Engine engine, const ServiceReading& reading);
// An empty reading of the service.
ServiceReading reading_of(Engine engine, const SeriesOwner& owner, double from, double until);

}  // namespace rightsize::live_service
