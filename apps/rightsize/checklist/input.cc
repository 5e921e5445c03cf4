#include "rightsize/checklist/input.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/located_json.h"

namespace rightsize::app {
namespace {

constexpr double kMost = 1e18;

// The document of a command, with its schema checked.
Checked<LocatedJson> read_document(const std::string& file, const std::string& command) {
  RIGHTSIZE_TRY(std::string text, read_file(file));
  RIGHTSIZE_TRY(LocatedJson document, LocatedJson::parse(file, std::move(text)));
  const JsonMember* schema = document.root().find("schema");
  const std::string wanted = "rightsize/" + command + "/1";
  if (schema == nullptr || schema->value.text != wanted) {
    return fail(
        bad_input(fmt::format("this is not what 'rightsize {}' writes: its \"schema\" is not {}", command, wanted))
            .at(document.place(document.root()))
            .with_hint(fmt::format("rightsize {} ... --format json > FILE", command)));
  }
  return document;
}

// The texts of a list, which are strings or objects {"text": ...}.
std::vector<std::string> texts(const JsonObject& object, const char* name) {
  std::vector<std::string> found;
  const JsonMember* list = object.find(name);
  if (list == nullptr) return found;
  for (const JsonValue& item : list->value.items) {
    const JsonMember* inner = item.find("text");
    const std::string& text = inner != nullptr ? inner->value.text : item.text;
    if (!text.empty()) found.push_back(text);
  }
  return found;
}

std::optional<double> metric(const JsonObject& gpu, const char* name, const char* what, double most) {
  const JsonObject one_metric = gpu.get_object_or_empty("metrics").get_object_or_empty(name);
  return one_metric.get_number(what, 0, most);
}

ProfiledGpu read_gpu(const JsonObject& gpu) {
  ProfiledGpu read;
  read.name = gpu.get_string("name").value_or("GPU");
  read.verdict = gpu.get_string("verdict").value_or("");
  read.confidence = gpu.get_number("confidence", 0, 1);
  if (const auto length = gpu.get_number("seconds", 0, kMost)) read.duration = seconds(*length);
  read.sm_active = metric(gpu, "sm_active", "mean", 1);
  read.gpu_util = metric(gpu, "gpu_util", "mean", 1);
  if (const auto peak = metric(gpu, "memory_used_bytes", "max", kMost)) read.memory_peak = bytes(*peak);
  read.evidence = texts(gpu, "evidence");
  read.actions = texts(gpu, "actions");
  return read;
}

}  // namespace

Checked<std::vector<ProfiledGpu>> read_profile(const std::string& file) {
  RIGHTSIZE_TRY(LocatedJson document, read_document(file, "profile"));
  Errors errors;
  std::vector<ProfiledGpu> gpus;
  const JsonObject root(document, document.root(), errors);
  const JsonMember* list = root.find("gpus");
  if (list == nullptr || list->value.items.empty()) root.fail_at("gpus", "no GPU was profiled");
  if (list != nullptr) {
    for (const JsonValue& item : list->value.items) gpus.push_back(read_gpu(JsonObject(document, item, errors)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return gpus;
}

Checked<MeasuredFleet> read_fleet(const std::string& file) {
  RIGHTSIZE_TRY(LocatedJson document, read_document(file, "fleet"));
  Errors errors;
  const JsonObject root(document, document.root(), errors);
  const JsonObject totals = root.get_object_or_empty("totals");
  MeasuredFleet fleet;
  fleet.gpus = totals.get_number("gpus", 0, kMost).value_or(0);
  if (const auto spend = totals.get_number("spend_usd", 0, kMost)) fleet.spend = usd(*spend);
  if (const auto waste = totals.get_number("waste_usd", 0, kMost)) fleet.waste = usd(*waste);
  if (const JsonMember* actions = root.find("actions"); actions != nullptr && !actions->value.items.empty()) {
    const JsonMember* what = actions->value.items.front().find("what");
    if (what != nullptr) fleet.first_action = what->value.text;
  }
  if (!errors.empty()) return fail(std::move(errors));
  return fleet;
}

}  // namespace rightsize::app
