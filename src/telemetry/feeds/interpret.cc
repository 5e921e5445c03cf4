#include "telemetry/feeds/interpret.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

// Google wraps what managed Prometheus collected: "prometheus.googleapis.com/DCGM_FI_DEV_GPU_UTIL/gauge".
std::string_view unwrapped(std::string_view name) {
  constexpr std::string_view kPrefix = "prometheus.googleapis.com/";
  if (!name.starts_with(kPrefix)) return name;
  name.remove_prefix(kPrefix.size());
  return name.substr(0, name.rfind('/'));
}

// For each part of a device, its labels in the stores, the most specific first.
struct LabelWord {
  const char* word;
  std::initializer_list<const char*> names;
};
const LabelWord kLabelWords[] = {
    {"host",
     {"Hostname", "hostname", "host_name", "kubernetes_node", "node", "nodename", "host", "InstanceId", "instance_id",
      "instanceid", "node_name", "instance", "resource"}},
    {"uuid", {"UUID", "uuid", "gpu_uuid", "GPU_UUID"}},
    {"index", {"gpu", "GPU", "index", "gpu_number", "minor_number", "gpu_id", "GpuDevice", "device"}},
    {"model", {"modelName", "model_name", "gpu_model", "model", "name", "accelerator_type", "gpu_name"}},
    {"mig_profile", {"GPU_I_PROFILE", "gpu_i_profile", "mig_profile"}},
    {"mig_id", {"GPU_I_ID", "gpu_i_id", "gpu_instance_id"}},
    {"namespace", {}},
    {"pod", {}},
    {"container", {}},
    {"job", {}},
    {"user", {}},
    {"account", {}},
    {"instance_type", {}},
    {"provider", {}},
    {"region", {}},
};

const std::string* find_label(const Labels& labels, const char* word, const NameMap& map) {
  if (const auto named = map.labels.find(word); named != map.labels.end()) {
    const auto found = labels.find(named->second);
    return found != labels.end() ? &found->second : nullptr;
  }
  for (const LabelWord& row : kLabelWords) {
    if (std::string_view(row.word) != word) continue;
    for (const char* name : row.names) {
      if (const auto found = labels.find(name); found != labels.end() && !found->second.empty()) return &found->second;
    }
  }
  return nullptr;
}

std::string text_of(const Labels& labels, const char* word, const NameMap& map) {
  const std::string* text = find_label(labels, word, map);
  return text != nullptr ? *text : std::string();
}

// "0", "nvidia3", "gpu-2": the digits at the end; -1 when there are none.
int number_at_end(std::string_view text) {
  std::size_t from = text.size();
  while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9') --from;
  int value = -1;
  std::from_chars(text.data() + from, text.data() + text.size(), value);
  return value;
}

std::string chosen_label(const std::vector<std::string>& present, const char* word, const NameMap& map) {
  if (const auto named = map.labels.find(word); named != map.labels.end()) return named->second;
  for (const LabelWord& row : kLabelWords) {
    if (std::string_view(row.word) != word) continue;
    for (const char* name : row.names) {
      if (std::find(present.begin(), present.end(), name) != present.end()) return name;
    }
  }
  return {};
}

// A metric by our name for it: "gpu_util", "memory_used_bytes".
std::optional<Metric> metric_of_word(std::string_view word) {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (name_of(static_cast<Metric>(i)) == word) return static_cast<Metric>(i);
  }
  return std::nullopt;
}

Result<> add_name(NameMap& map, const std::string& flag) {
  const std::size_t equals = flag.find('=');
  if (equals == std::string::npos || equals + 1 == flag.size()) {
    return fail(bad_input(fmt::format("--name '{}': expected OUR_NAME=NAME_IN_YOUR_STORE", flag))
                    .with_hint("for example --name host=node_name or --name gpu_util=my_gpu_busy_percent*0.01"));
  }
  const std::string word = flag.substr(0, equals);
  std::string theirs = flag.substr(equals + 1);
  const std::vector<std::string>& labels = label_words();
  if (std::find(labels.begin(), labels.end(), word) != labels.end()) {
    map.labels[word] = theirs;
    return {};
  }
  const std::optional<Metric> metric = metric_of_word(word);
  if (!metric) {
    std::vector<std::string> words = labels;
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

}  // namespace

const std::vector<std::string>& label_words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> all;
    for (const LabelWord& row : kLabelWords) all.emplace_back(row.word);
    return all;
  }();
  return kWords;
}

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
  device.host = text_of(labels, "host", map);
  device.name = text_of(labels, "model", map);
  device.mig_profile = text_of(labels, "mig_profile", map);
  device.mig_id = text_of(labels, "mig_id", map);
  if (const std::string* index = find_label(labels, "index", map)) device.index = std::max(0, number_at_end(*index));
  device.labels = labels;
  for (const auto& [word, theirs] : map.labels) {
    if (const auto found = labels.find(theirs); found != labels.end())
      device.labels.insert_or_assign(word, found->second);
  }
  return device;
}

std::string host_label(const std::vector<std::string>& present, const NameMap& map) {
  return chosen_label(present, "host", map);
}

std::string gpu_label(const std::vector<std::string>& present, const NameMap& map) {
  const std::string uuid = chosen_label(present, "uuid", map);
  return uuid.empty() ? chosen_label(present, "index", map) : uuid;
}

std::string model_label(const std::vector<std::string>& present, const NameMap& map) {
  return chosen_label(present, "model", map);
}

std::vector<std::string> labels_of_word(const std::vector<std::string>& present, std::string_view word,
                                        const NameMap& map) {
  if (const auto named = map.labels.find(std::string(word)); named != map.labels.end()) return {named->second};
  std::vector<std::string> found;
  for (const LabelWord& row : kLabelWords) {
    if (row.word != word) continue;
    for (const char* name : row.names) {
      if (std::find(present.begin(), present.end(), name) != present.end()) found.emplace_back(name);
    }
  }
  return found;
}

bool SeriesToSamples::open(const SeriesHead& head) {
  const std::optional<MetricSpec> meaning = meaning_of(head.metric, head.labels, map_);
  if (!meaning) {
    if (unknown_.size() < 200 || unknown_.contains(head.metric)) ++unknown_[head.metric];
    return false;
  }
  meaning_ = *meaning;
  meaning_.counter = meaning_.counter || (head.cumulative && meaning_.metric != Metric::kEnergy);
  known_.insert_or_assign(head.metric, meaning_.metric);
  device_ = sink_.open(device_of(head.labels, map_));
  held_back_.clear();
  return true;
}

void SeriesToSamples::give(std::span<const Point> points) {
  ready_.clear();
  for (const auto& [time, value] : points) {
    // Values that no rule about blanks and limits can refuse take a shortcut.
    const double direct = value * meaning_.scale;
    if (direct >= 0 && direct <= 1 && value < 1e6) {
      ready_.push_back({time, direct});
    } else if (const auto known = canonical(meaning_, value)) {
      ready_.push_back({time, *known});
    } else {
      sink_.add_unusable(device_, meaning_.metric, time);
    }
  }
  if (!ready_.empty()) sink_.add_points(device_, meaning_.metric, ready_);
}

void SeriesToSamples::points(std::span<const Point> several) {
  if (meaning_.unsure || meaning_.counter) {
    held_back_.insert(held_back_.end(), several.begin(), several.end());
  } else {
    give(several);
  }
}

void SeriesToSamples::close() {
  if (meaning_.counter) {
    std::sort(held_back_.begin(), held_back_.end());
    std::vector<Point> rates;
    for (std::size_t i = 1; i < held_back_.size(); ++i) {
      const auto& [before, low] = held_back_[i - 1];
      const auto& [after, high] = held_back_[i];
      if (after > before && high >= low)
        rates.push_back({after, (high - low) / in_seconds(after - before)});  // smaller: anew
    }
    give(rates);
  } else if (meaning_.unsure) {
    const bool percent =
        std::any_of(held_back_.begin(), held_back_.end(), [](const Point& p) { return p.value > kMostShare; });
    if (percent) meaning_.scale *= 0.01;
    give(held_back_);
  }
  held_back_.clear();
  held_back_.shrink_to_fit();
}

}  // namespace rightsize::telemetry
