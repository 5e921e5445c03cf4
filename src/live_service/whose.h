// Whose a series is: the replica, the service it belongs to and the model it serves, by labels as scrapers write them.
#pragma once

#include <string>
#include <vector>

#include "live_service/metric_names.h"
#include "live_service/reading.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::live_service {

struct Whose {
  std::string space_label, space;  // Kubernetes namespace
  std::string id_label, id;        // pod, else instance
  std::string model_label, model;
  std::string workload;  // the pods' common name; without pods the service or job
};

Whose whose(const telemetry::Labels& labels, Engine engine);

// Every label whose() looks at.
const std::vector<std::string>& whose_labels();

// Whether a reading is of this service.
bool is_of(const ServiceReading& reading, Engine engine, const Whose& whose);
// A new reading of it.
ServiceReading reading_of(Engine engine, const Whose& whose, double from, double until);

}  // namespace rightsize::live_service
