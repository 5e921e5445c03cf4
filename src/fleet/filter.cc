#include "fleet/filter.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"

namespace rightsize::fleet {
namespace {

using telemetry::ClusterPod;
using telemetry::SlurmJob;

// Drops the items that have none of the wanted names.
template <class Items, class NameOf>
Result<> keep_named(Items& items, const std::vector<std::string>& wanted, std::string_view what, NameOf name_of) {
  if (wanted.empty()) return {};
  std::set<std::string> known;
  for (const auto& item : items) known.insert(name_of(item));
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    known.erase("");
    const std::vector<std::string> names(known.begin(), known.end());
    const std::span<const std::string> some(names.data(), std::min<std::size_t>(5, names.size()));
    std::string hint = did_you_mean(name, names);
    if (hint.empty() && !names.empty()) hint = fmt::format("the log has {}", fmt::join(some, ", "));
    return fail(
        bad_input(fmt::format("--{} {}: no GPU in the log belongs to this {}", what, name, what)).with_hint(hint));
  }
  std::erase_if(items, [&](const auto& item) { return std::ranges::find(wanted, name_of(item)) == wanted.end(); });
  return {};
}

Result<> keep_pods(const std::vector<std::string>& namespaces, telemetry::ClusterState& cluster) {
  Result<> kept = keep_named(cluster.pods, namespaces, "namespace", [](const ClusterPod& pod) { return pod.team; });
  if (!kept) return kept;
  std::map<std::string, std::map<std::pair<std::string, std::string>, double>> requested;  // by node and pod
  for (const ClusterPod& pod : cluster.pods) requested[pod.node][{pod.team, pod.name}] = pod.requested;
  std::erase_if(cluster.nodes, [&](telemetry::ClusterNode& node) {
    double gpus = 0;
    for (const auto& [pod, count] : requested[node.name]) gpus += count / node.shares;
    node.gpus = std::min(node.gpus, gpus);
    return node.gpus <= 0;
  });
  return {};
}

}  // namespace

Result<> keep(const WorkFilter& only, telemetry::JobTable& jobs, telemetry::ClusterState& cluster) {
  if (only.empty()) return {};
  if (!cluster.empty() && only.namespaces.empty())
    return fail(bad_input("pods have no user, account or partition").with_hint("filter pods with --namespace"));
  if (!jobs.empty() && !only.namespaces.empty())
    return fail(
        bad_input("Slurm jobs have no namespace").with_hint("filter jobs with --user, --account or --partition"));
  static constexpr struct {
    std::vector<std::string> WorkFilter::*wanted;
    const char* what;
    telemetry::Word SlurmJob::*name;
  } kFilters[] = {{&WorkFilter::users, "user", &SlurmJob::user},
                  {&WorkFilter::accounts, "account", &SlurmJob::account},
                  {&WorkFilter::partitions, "partition", &SlurmJob::partition}};
  for (const auto& filter : kFilters) {
    Result<> kept = keep_named(jobs.jobs, only.*filter.wanted, filter.what,
                               [&](const SlurmJob& job) -> const std::string& { return job.*filter.name; });
    if (!kept) return kept;
  }
  if (!cluster.empty()) return keep_pods(only.namespaces, cluster);
  jobs.without_gpu = jobs.never_started = 0;  // their owners are unknown
  return {};
}

}  // namespace rightsize::fleet
