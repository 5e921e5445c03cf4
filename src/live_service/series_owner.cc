#include "live_service/series_owner.h"

#include <span>

#include "fleet/use.h"

namespace rightsize::live_service {
namespace {

// In order of preference.
constexpr const char* kSpaces[] = {"namespace", "kubernetes_namespace", "exported_namespace"};
constexpr const char* kPods[] = {"pod", "pod_name", "kubernetes_pod_name", "exported_pod"};
constexpr const char* kModels[] = {"model_name", "target_model_name", "model"};
constexpr const char* kOthers[] = {"instance", "job", "service"};

std::string value_of(const telemetry::Labels& labels, const std::string& name) {
  const auto at = labels.find(name);
  return at == labels.end() ? std::string() : at->second;
}

std::string first_label(const telemetry::Labels& labels, std::span<const char* const> names) {
  for (const char* name : names) {
    if (!value_of(labels, name).empty()) return name;
  }
  return {};
}

}  // namespace

const std::vector<std::string>& owner_labels() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (std::span<const char* const> some : {std::span<const char* const>(kSpaces), {kPods}, {kModels}, {kOthers}})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kAll;
}

SeriesOwner owner_of(const telemetry::Labels& labels, Engine engine) {
  SeriesOwner owner;
  owner.space_label = first_label(labels, kSpaces);
  owner.space = value_of(labels, owner.space_label);
  owner.id_label = first_label(labels, kPods);
  const bool pod = !owner.id_label.empty();
  if (!pod) owner.id_label = "instance";
  owner.id = value_of(labels, owner.id_label);
  // A model of Triton is a step of an ensemble, not the served model.
  if (engine != Engine::kTriton) owner.model_label = first_label(labels, kModels);
  owner.model = value_of(labels, owner.model_label);
  owner.workload = pod ? fleet::workload_of_pod(owner.id) : value_of(labels, "service");
  if (owner.workload.empty()) owner.workload = value_of(labels, "job");
  if (owner.workload.empty()) owner.workload = std::string(name_of(engine));
  return owner;
}

bool belongs_to(const SeriesOwner& owner, Engine engine, const ServiceReading& r) {
  return r.engine == engine && r.space == owner.space && r.workload == owner.workload && r.model == owner.model;
}

ServiceReading reading_of(Engine engine, const SeriesOwner& owner, double from, double until) {
  ServiceReading r;
  r.engine = engine;
  r.space = owner.space, r.workload = owner.workload, r.model = owner.model;
  r.from = from, r.until = until;
  return r;
}

}  // namespace rightsize::live_service
