// The meaning of a series' labels: its device, the owner of the device, and the remaining labels.
//
// One table serves text and stores: DCGM's old and new names, those of other exporters and of the clouds, and every
// spelling of labels seen in practice (Hostname and hostname, UUID and uuid, exported_pod). The user adds others with a
// NameMap.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/metric_names.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

using Labels = std::map<std::string, std::string>;

// The user's own names. `metrics`: the store's name -> our metric and the factor to its canonical unit. `labels`: one
// of the words host, uuid, pod, ... -> the store's label, or several joined by '+'. The word "copy" names labels that
// only differ between copies of the same readings.
struct NameMap {
  std::map<std::string, MetricSpec> metrics;
  std::map<std::string, std::string> labels;
};

// "gpu_util=my_gpu_busy_percent*0.01" for a metric, "host=cluster+node_name" for labels; every mistake is reported,
// unknown words get a suggestion.
Checked<NameMap> parse_name_map(const std::vector<std::string>& flags);

// Empty for an unknown name. Labels matter if a store uses one name for several metrics, as Google does for used and
// free memory.
std::optional<MetricSpec> meaning_of(const std::string& name, const Labels& labels, const NameMap& map);

// The device that labels describe. Owner labels keep the names of their store; those of the NameMap are added under our
// names.
Device device_of(const Labels& labels, const NameMap& map);

// The labels of `present` that device_of() looks at for a word such as "host", the most specific first.
std::vector<std::string> labels_of_word(const std::vector<std::string>& present, std::string_view word,
                                        const NameMap& map);

// The labels of Kubernetes (with and without "exported_"), Slurm and the clouds that name an owner, the most specific
// first.
inline constexpr const char* kTeamLabels[] = {"exported_namespace", "pod_namespace", "namespace_name",
                                              "namespace",          "account",       "slurm_account"};
inline constexpr const char* kUserLabels[] = {"user", "userid", "username", "slurm_user", "job_user"};
inline constexpr const char* kPodLabels[] = {"exported_pod", "pod_name", "pod"};
inline constexpr const char* kJobLabels[] = {"hpc_job", "jobid", "slurm_job_id", "job_id", "job_uuid", "runid"};
inline constexpr const char* kJobNameLabels[] = {"job_name", "jobname", "exported_container"};

// Two series about the same device (Device::key()) may be copies of the same readings, or two GPUs that no known label
// separates. These labels decide: those that neither identify a device, nor name its owner, nor describe how it was
// read. Empty for a device with a unique ID, and after --name copy=LABEL for these labels. Without host and ID, owners
// count too: they may be on different hosts.
Labels distinguishing_labels(const Device& device, const NameMap& map);

// The names that both have with different values.
std::vector<std::string> differing(const Labels& a, const Labels& b);

// Several series that describe one device at the same time, and the labels in which they differ.
struct IdentityConflict {
  std::string device;                                        // as shown: "0", "node-1:0"
  std::size_t series = 0;                                    // label sets of this device
  std::map<std::string, std::set<std::string>> labels = {};  // and their values

  // An error that names the flags to separate GPUs or to join copies.
  Error error() const;
};

}  // namespace rightsize::telemetry
