// Nomad's job files: the devices of tasks, times the count of their group.
#include <fmt/format.h>

#include "manifests/hcl_functions.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;

// "gpu", "nvidia/gpu" or "nvidia/gpu/Tesla T4"; empty model: any.
bool is_gpu_device(std::string_view device, std::string& model) {
  const std::size_t first = device.find('/'),
                    second = first == std::string_view::npos ? first : device.find('/', first + 1);
  const std::string_view type = first == std::string_view::npos ? device : device.substr(first + 1, second - first - 1);
  if (second != std::string_view::npos) model = device.substr(second + 1);
  return type == "gpu";
}

// constraint { attribute = "${device.model}" value = "NVIDIA A100-SXM4-80GB" }
void read_constraints(const HclValue& device, GpuRequest& request) {
  for (const auto& [name, constraint] : device.members) {
    const HclValue *attribute = constraint.find("attribute"), *value = constraint.find("value");
    if (name != "constraint" || attribute == nullptr || value == nullptr) continue;
    if (attribute->text.find("device.model") != std::string::npos && value->kind == Kind::kString)
      request.gpus = {value->text};
  }
}

void visit(const HclValue& block, const std::string& type, const GpuRequest& base, Found& found) {
  GpuRequest request = base;
  const std::string label = block.labels.empty() ? "" : block.labels.front();
  if (type == "job") request.name = label;
  if (type == "job") request.job = block.find("type") != nullptr && block.find("type")->text == "batch";
  if (type == "group") request.units = count_of(block.find("count"), "count", request);
  if (type == "group" || type == "task") request.part += (request.part.empty() ? "" : ".") + label;
  std::string model;
  if (type == "device" && is_gpu_device(label, model)) {
    request.line = block.line;
    request.resource = label;
    request.per_unit = count_of(block.find("count"), "count", request);
    if (!model.empty()) request.gpus = {model};
    read_constraints(block, request);
    found.requests.push_back(request);
    return;
  }
  for (const auto& [name, inner] : block.members) {
    if (inner.kind == Kind::kObject) visit(inner, name, request, found);
  }
}

}  // namespace

bool is_nomad(std::string_view file, std::string_view text) {
  if (!file.ends_with(".nomad") && !file.ends_with(".hcl")) return false;
  return text.starts_with("job ") || text.find("\njob ") != std::string_view::npos;
}

Found read_nomad(const std::string& file, std::string_view text) {
  Found found;
  Result<HclValue> root = parse_hcl(file, text);
  if (!root) {
    found.notes.push_back(fmt::format("{}:{}: {}", file, root.error().place.line, root.error().message));
    return found;
  }
  GpuRequest base;
  base.file = file;
  base.kind = "Nomad job";
  for (const auto& [name, block] : root->members) {
    if (name == "job") visit(block, name, base, found);
  }
  return found;
}

}  // namespace rightsize::manifests
