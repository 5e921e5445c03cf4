#include "telemetry/feeds/interpret.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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
  std::string_view word;
  std::vector<std::string> names = {};
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
    {"namespace"},
    {"pod"},
    {"container"},
    {"job"},
    {"user"},
    {"account"},
    {"instance_type"},
    {"provider"},
    {"region"},
};

// The labels that may hold a word: the user's own name for it, or those of the stores.
std::vector<std::string> names_of(std::string_view word, const NameMap& map) {
  if (const auto named = map.labels.find(std::string(word)); named != map.labels.end()) return {named->second};
  const auto row = std::ranges::find(kLabelWords, word, &LabelWord::word);
  return row == std::end(kLabelWords) ? std::vector<std::string>() : std::vector<std::string>(row->names);
}

std::string text_of(const Labels& labels, std::string_view word, const NameMap& map) {
  for (const std::string& name : names_of(word, map)) {
    if (const auto found = labels.find(name); found != labels.end() && !found->second.empty()) return found->second;
  }
  return {};
}

// "0", "nvidia3", "gpu-2": the digits at the end; -1 when there are none.
int number_at_end(std::string_view text) {
  std::size_t from = text.size();
  while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9') --from;
  int value = -1;
  std::from_chars(text.data() + from, text.data() + text.size(), value);
  return value;
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
    map.labels[word] = theirs;
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
  device.host = text_of(labels, "host", map);
  device.name = text_of(labels, "model", map);
  device.mig_profile = text_of(labels, "mig_profile", map);
  device.mig_id = text_of(labels, "mig_id", map);
  device.index = std::max(0, number_at_end(text_of(labels, "index", map)));
  device.labels = labels;
  for (const auto& [word, theirs] : map.labels) {
    if (const auto found = labels.find(theirs); found != labels.end())
      device.labels.insert_or_assign(word, found->second);
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
    std::ranges::sort(held_back_);
    std::vector<Point> rates;
    for (std::size_t i = 1; i < held_back_.size(); ++i) {
      const auto& [before, low] = held_back_[i - 1];
      const auto& [after, high] = held_back_[i];
      if (after > before && high >= low)
        rates.push_back(
            {after, (high - low) / in_seconds(after - before)});  // a smaller total means that the counter was reset
    }
    give(rates);
  } else if (meaning_.unsure) {
    const bool percent = std::ranges::any_of(held_back_, [](const Point& p) { return p.value > kMostShare; });
    if (percent) meaning_.scale *= 0.01;
    give(held_back_);
  }
  held_back_.clear();
  held_back_.shrink_to_fit();
}

}  // namespace rightsize::telemetry
