#include "manifests/compare.h"

#include <algorithm>
#include <functional>

namespace rightsize::manifests {
namespace {

using Same = std::function<bool(const GpuRequest&, const GpuRequest&)>;

// Whether a name is an address, as of Terraform's resources and of objects in a cluster: another name is another one.
// Scripts and tasks are known by their files.
bool is_address(const GpuRequest& r) {
  const bool object = r.kind.find(' ') == r.kind.npos && r.kind.size() > 1 && r.kind[0] >= 'A' && r.kind[0] <= 'Z' &&
                      r.kind[1] >= 'a' && r.kind[1] <= 'z';
  return !r.name.empty() && (object || r.kind.find('_') != r.kind.npos || r.kind.find("::") != r.kind.npos);
}

// Ways to recognise a request in the other version, most reliable first.
const std::vector<Same>& signs() {
  static const std::vector<Same> kAll = {
      [](const auto& a, const auto& b) {
        return a.file == b.file && a.kind == b.kind && a.name == b.name && a.part == b.part && a.resource == b.resource;
      },
      [](const auto& a, const auto& b) {
        return a.file == b.file && a.kind == b.kind && a.name == b.name && a.part == b.part;
      },
      [](const auto& a, const auto& b) { return a.kind == b.kind && a.name == b.name && a.part == b.part; },
      [](const auto& a, const auto& b) { return a.kind == b.kind && a.name == b.name; },
      [](const auto& a, const auto& b) { return a.file == b.file && a.kind == b.kind && !is_address(a); },
  };
  return kAll;
}

}  // namespace

bool RequestChange::differs() const {
  if (!before || !after) return true;
  const GpuRequest &a = before->request, &b = after->request;
  return a.resource != b.resource || a.gpus != b.gpus || a.machines != b.machines || a.mig_profile != b.mig_profile ||
         a.per_unit != b.per_unit || a.units != b.units || a.most_units != b.most_units ||
         a.most_vcpus != b.most_vcpus || a.spot != b.spot || a.unresolved != b.unresolved || a.provider != b.provider ||
         a.region != b.region || a.hint != b.hint || a.time_limit != b.time_limit;
}

std::vector<RequestChange> compare(std::vector<Side> before, std::vector<Side> after) {
  std::vector<RequestChange> changes(after.size());
  std::vector<bool> used(before.size(), false);
  for (const Same& same : signs()) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (changes[i].before) continue;
      for (std::size_t j = 0; j < before.size(); ++j) {
        if (used[j] || !same(before[j].request, after[i].request)) continue;
        used[j] = true;
        changes[i].before = before[j];
        break;
      }
    }
  }
  for (std::size_t i = 0; i < after.size(); ++i) changes[i].after = std::move(after[i]);
  for (std::size_t j = 0; j < before.size(); ++j) {
    if (!used[j]) changes.push_back({std::move(before[j]), {}});
  }
  return changes;
}

}  // namespace rightsize::manifests
