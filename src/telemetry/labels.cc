#include "telemetry/labels.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::telemetry {
namespace {

// Google wraps what managed Prometheus collected: "prometheus.googleapis.com/DCGM_FI_DEV_GPU_UTIL/gauge".
std::string_view unwrapped(std::string_view name) {
  constexpr std::string_view kPrefix = "prometheus.googleapis.com/";
  if (!name.starts_with(kPrefix)) return name;
  name.remove_prefix(kPrefix.size());
  return name.substr(0, name.rfind('/'));
}

// For each part of a device, its labels in the stores, most specific first.
struct LabelWord {
  std::string_view word;
  std::vector<std::string> names = {};
};
const LabelWord kLabelWords[] = {
    {"host",
     {"Hostname", "hostname", "host_name", "kubernetes_node", "node", "nodename", "host", "InstanceId", "instance_id",
      "nodeid", "instanceid", "node_name", "exported_node", "instance", "resource"}},
    {"uuid", {"UUID", "uuid", "gpu_uuid", "GPU_UUID", "accelerator_id", "acc_id"}},
    {"index",
     {"gpu", "GPU", "index", "gpu_number", "minor_number", "gpu_id", "deviceid", "GpuDevice", "device",
      "gpu_use_percent", "gpu_memory_use_percent", "gpu_power", "accelerator_id", "acc_id"}},
    {"model",
     {"modelName", "model_name", "gpu_model", "card_model", "model", "name", "accelerator_type", "gpu_name",
      "productname"}},
    {"mig_profile", {"GPU_I_PROFILE", "gpu_i_profile", "mig_profile"}},
    {"mig_id", {"GPU_I_ID", "gpu_i_id", "gpu_instance_id"}},
    {"namespace"},
    {"pod"},
    {"container"},
    {"job"},
    {"user"},
    {"account"},
    {"instance_type"},
    {"provider"},
    {"region"},
    {"copy"},
};

// Labels about how a device was read, or facts about it that change over time; they do not identify it.
constexpr std::string_view kScrapeLabels[] = {"job",
                                              "exported_job",
                                              "endpoint",
                                              "service",
                                              "exported_service",
                                              "exported_instance",
                                              "prometheus",
                                              "prometheus_replica",
                                              "replica",
                                              "__replica__",
                                              "receive",
                                              "receive_replica",
                                              "tenant_id",
                                              "monitor",
                                              "app",
                                              "k8s_app",
                                              "container",
                                              "container_name",
                                              "exported_container",
                                              "container_id",
                                              "pod_uid",
                                              "pod_ip",
                                              "host_ip",
                                              "uid",
                                              "image",
                                              "driver_version",
                                              "DCGM_FI_DRIVER_VERSION",
                                              "vbios_version",
                                              "err_code",
                                              "err_msg",
                                              "unit",
                                              "memory_state",
                                              "state",
                                              "direction",
                                              "pipe",
                                              "region",
                                              "resourceregion",
                                              "scenario",
                                              "namespace_uid",
                                              "job_partition",
                                              "Name"};

// The labels that may hold a word: the user's own names for it, or those of the stores.
std::vector<std::string> names_of(std::string_view word, const NameMap& map) {
  if (const auto named = map.labels.find(std::string(word)); named != map.labels.end()) {
    std::vector<std::string> own;
    for (std::string_view name : split_list(named->second, '+')) own.emplace_back(name);
    return own;
  }
  const auto row = std::ranges::find(kLabelWords, word, &LabelWord::word);
  return row == std::end(kLabelWords) ? std::vector<std::string>() : std::vector<std::string>(row->names);
}

std::string value_of(const Labels& labels, const std::string& name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string() : found->second;
}

// All of the user's names, joined; or the first of ours that is present.
std::string text_of(const Labels& labels, std::string_view word, const NameMap& map) {
  const bool own = map.labels.contains(std::string(word));
  std::string text;
  for (const std::string& name : names_of(word, map)) {
    const std::string value = value_of(labels, name);
    if (value.empty()) continue;
    if (!own) return value;
    text += (text.empty() ? "" : "/") + value;
  }
  return text;
}

// "0", "nvidia3", "gpu-2": the digits at the end; -1 when there are none.
int number_at_end(std::string_view text) {
  std::size_t from = text.size();
  while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9') --from;
  int value = -1;
  std::from_chars(text.data() + from, text.data() + text.size(), value);
  return value;
}

// "nvidia0" and "3" number the GPUs of a host; they are not unique IDs.
bool is_number_on_host(std::string_view id) {
  if (id.starts_with("nvidia")) id.remove_prefix(6);
  return id.size() <= 2 && number_at_end(id) >= 0;
}

Result<> add_name(NameMap& map, const std::string& flag) {
  const std::size_t equals = flag.find('=');
  if (equals == std::string::npos || equals + 1 == flag.size()) {
    return fail(bad_input(fmt::format("--name '{}': expected OUR_NAME=NAME_IN_YOUR_STORE", flag))
                    .with_hint("for example --name host=node_name or --name gpu_util=my_gpu_busy_percent*0.01"));
  }
  const std::string word = flag.substr(0, equals);
  std::string theirs = flag.substr(equals + 1);
  if (std::ranges::find(kLabelWords, word, &LabelWord::word) != std::end(kLabelWords)) {
    std::string& names = map.labels[word];
    // Several labels can differ between copies; each --name copy=LABEL adds one.
    names = word == "copy" && !names.empty() ? names + "+" + theirs : theirs;
    return {};
  }
  const std::optional<Metric> metric = metric_named(word);
  if (!metric) {
    std::vector<std::string> words;
    for (const LabelWord& row : kLabelWords) words.emplace_back(row.word);
    for (std::size_t i = 0; i < kMetrics; ++i) words.emplace_back(name_of(static_cast<Metric>(i)));
    return fail(bad_input(fmt::format("--name '{}': unknown metric or label '{}'", flag, word))
                    .with_hint(did_you_mean(word, words)));
  }
  double scale = 1;
  if (const std::size_t star = theirs.rfind('*'); star != std::string::npos) {
    Result<double> factor = parse_number(std::string_view(theirs).substr(star + 1));
    if (!factor || *factor <= 0)
      return fail(bad_input(fmt::format("--name '{}': expected a factor greater than 0 after '*'", flag)));
    scale = *factor;
    theirs.resize(star);
  }
  map.metrics[theirs] = {*metric, scale};
  return {};
}

bool is_owner_label(std::string_view name) {
  const auto in = [&](const auto& list) { return std::ranges::find(list, name) != std::end(list); };
  return in(kTeamLabels) || in(kUserLabels) || in(kPodLabels) || in(kJobLabels) || in(kJobNameLabels) ||
         name.find("ray_io_") != name.npos || name.find("skypilot") != name.npos;
}

std::string without_port(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

Checked<NameMap> parse_name_map(const std::vector<std::string>& flags) {
  NameMap map;
  Errors errors;
  for (const std::string& flag : flags) {
    if (Result<> added = add_name(map, flag); !added) errors.push_back(std::move(added).error());
  }
  if (!errors.empty()) return fail(std::move(errors));
  return map;
}

std::optional<MetricSpec> meaning_of(const std::string& name, const Labels& labels, const NameMap& map) {
  if (const auto own = map.metrics.find(name); own != map.metrics.end()) return own->second;
  const std::string_view plain = unwrapped(name);
  if (const std::optional<MetricSpec> spec = find_metric(Vocabulary::kExporter, plain);
      spec && spec->metric < kMemoryFree)
    return spec;
  const std::optional<MetricSpec> spec = find_metric(Vocabulary::kStore, plain);
  if (!spec || spec->label.empty()) return spec;
  const auto label = labels.find(spec->label);
  return label != labels.end() && label->second == spec->label_value ? spec : std::nullopt;
}

Device device_of(const Labels& labels, const NameMap& map) {
  Device device;
  device.uuid = text_of(labels, "uuid", map);
  if (is_number_on_host(device.uuid) && !map.labels.contains("uuid")) device.uuid.clear();
  device.host = text_of(labels, "host", map);
  device.name = text_of(labels, "model", map);
  device.mig_profile = text_of(labels, "mig_profile", map);
  device.mig_id = text_of(labels, "mig_id", map);
  device.index = std::max(0, number_at_end(text_of(labels, "index", map)));
  device.labels = labels;
  for (const auto& [word, theirs] : map.labels) {
    if (const std::string value = text_of(labels, word, map); !value.empty() && word != "copy")
      device.labels.insert_or_assign(word, value);
  }
  return device;
}

std::vector<std::string> labels_of_word(const std::vector<std::string>& present, std::string_view word,
                                        const NameMap& map) {
  std::vector<std::string> names = names_of(word, map);
  const bool own = map.labels.contains(std::string(word));
  std::erase_if(names,
                [&](const std::string& name) { return !own && std::ranges::find(present, name) == present.end(); });
  return names;
}

Labels distinguishing_labels(const Device& device, const NameMap& map) {
  if (!device.uuid.empty()) return {};
  std::set<std::string> used;
  for (const char* word : {"index", "model", "mig_profile", "mig_id", "copy"}) {
    for (std::string& name : names_of(word, map)) used.insert(std::move(name));
  }
  if (device.labels.contains("deviceid")) used.erase("gpu_id");
  // The labels behind the host's name: the first that is present, or all that the user named.
  for (std::string& name : names_of("host", map)) {
    if (!device.labels.contains(name)) continue;
    used.insert(name);
    if (!map.labels.contains("host")) break;
  }
  Labels left;
  for (const auto& [name, value] : device.labels) {
    if (value.empty() || used.contains(name) || map.labels.contains(name)) continue;
    if (std::ranges::find(kScrapeLabels, name) != std::end(kScrapeLabels)) continue;
    if (is_owner_label(name) && !device.host.empty()) continue;
    left.emplace(name, name == "instance" ? without_port(value) : value);
  }
  return left;
}

std::vector<std::string> differing(const Labels& a, const Labels& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other != b.end() && other->second != value) names.push_back(name);
  }
  return names;
}

Error IdentityConflict::error() const {
  std::vector<std::string> names, shown;
  std::string best;  // a single label that separates them
  for (const auto& [name, values] : labels) {
    names.push_back(name);
    std::vector<std::string> few(values.begin(),
                                 std::next(values.begin(), std::min<std::ptrdiff_t>(2, std::ssize(values))));
    if (values.size() > few.size()) few.emplace_back("...");
    shown.push_back(fmt::format("{} ({})", name, fmt::join(few, ", ")));
    if (best.empty() && values.size() == series) best = name;
  }
  Error wrong = bad_input(fmt::format(
      "{} series describe one GPU ('{}') at the same time. No known label distinguishes them; they differ in {}",
      series, device, fmt::join(shown, ", ")));
  if (labels.contains("Id")) {
    wrong.hints.emplace_back(
        "CloudWatch names its results by query only: also give the file of MetricDataQueries, as in --from "
        "results.json queries.json");
  }
  return std::move(wrong)
      .with_hint(fmt::format("if they are different GPUs: --name uuid={}",
                             best.empty() ? fmt::format("{}", fmt::join(names, "+")) : best))
      .with_hint(fmt::format("if they are copies of the same readings: --name copy={}", fmt::join(names, "+")));
}

}  // namespace rightsize::telemetry
