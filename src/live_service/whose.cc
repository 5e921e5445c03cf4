#include "live_service/whose.h"

#include <span>

#include "fleet/use.h"

namespace rightsize::live_service {
namespace {

// The usual one first.
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

const std::vector<std::string>& whose_labels() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (std::span<const char* const> some : {std::span<const char* const>(kSpaces), {kPods}, {kModels}, {kOthers}})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kAll;
}

Whose whose(const telemetry::Labels& labels, Engine engine) {
  Whose w;
  w.space_label = first_label(labels, kSpaces);
  w.space = value_of(labels, w.space_label);
  w.id_label = first_label(labels, kPods);
  const bool pod = !w.id_label.empty();
  if (!pod) w.id_label = "instance";
  w.id = value_of(labels, w.id_label);
  // Triton's model is a step of its pipeline, not what is served.
  if (engine != Engine::kTriton) w.model_label = first_label(labels, kModels);
  w.model = value_of(labels, w.model_label);
  w.workload = pod ? fleet::workload_of_pod(w.id) : value_of(labels, "service");
  if (w.workload.empty()) w.workload = value_of(labels, "job");
  if (w.workload.empty()) w.workload = std::string(name_of(engine));
  return w;
}

bool is_of(const ServiceReading& r, Engine engine, const Whose& w) {
  return r.engine == engine && r.space == w.space && r.workload == w.workload && r.model == w.model;
}

ServiceReading reading_of(Engine engine, const Whose& w, double from, double until) {
  ServiceReading r;
  r.engine = engine;
  r.space = w.space, r.workload = w.workload, r.model = w.model;
  r.from = from, r.until = until;
  return r;
}

}  // namespace rightsize::live_service
