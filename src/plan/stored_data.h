// What a job reads and writes, and where that is kept.
#pragma once

#include <optional>
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

// Training on images: the hosts decode and resize them, and too few processors make GPUs wait.
struct ImageInput {
  double images_per_second = 0;     // of the plan
  double cpus = 0;                  // vCPUs that prepare as many
  std::optional<double> available;  // next to the GPUs in use; empty: unknown

  bool is_short() const { return available && *available < cpus; }
};
std::optional<ImageInput> image_input(const Request& request, const Plan& plan);  // empty: another job

// "images decoded at 7,655/s, which takes about 59 vCPUs"; empty: no images.
std::string describe_image_input(const Request& request, const Plan& plan);
// "the 16 vCPUs next to the GPUs decode about 2,960 JPEGs ..."; empty: they are enough, or unknown.
std::string short_of_cpus(const Request& request, const Plan& plan);

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
