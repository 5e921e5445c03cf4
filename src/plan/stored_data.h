// What a job reads and writes, and where that is kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace rightsize::plan {

// What an offline job reads and writes, as far as it follows from the model; zero: unknown.
struct DataSize {
  Bytes in, out;
  Bytes both() const { return in + out; }
};
DataSize data_size(const Request& request);

// "about 320 GB in and 4.38 TB out, with storage of 4.7 TB in the cost (--storage)"; empty: unknown.
std::string describe_data(const Request& request, const Plan& plan);

// What SkyPilot can do on a provider's machines: a row of data/skypilot_clouds.csv.
struct SkyPilotCloud {
  std::string infra;  // empty: a Kubernetes cluster of the provider
  bool nodes = true, buckets = true, volumes = true, spot = true, docker = true, ports = true, autodown = true;
  std::vector<std::string> network;  // where network_tier: best is accepted
};
SkyPilotCloud skypilot_cloud(std::string_view provider);

// What a file for SkyPilot asks of a cloud.
struct SkyPilotNeeds {
  bool nodes = false, spot = false, ports = false, docker = false;
};
// Refuses what SkyPilot would refuse, and names clouds where the same works.
Result<> check_skypilot(std::string_view provider, const SkyPilotNeeds& needs);

// Whether SkyPilot mounts storage that outlives the machines of this provider, so that a task can resume.
bool keeps_results(const market::Offer& offer);

}  // namespace rightsize::plan
