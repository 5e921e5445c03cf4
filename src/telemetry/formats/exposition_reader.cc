// Prometheus exposition text as dcgm-exporter writes it: one line per metric and device. The lines of one scrape form
// one sample per device and owner (pods that share a GPU each report its metrics). If lines carry a time, the lines
// with the same time form a sample, in any order; otherwise the next scrape begins when a metric occurs again.
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/labels.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

class ExpositionReader final : public LineReader {
 public:
  explicit ExpositionReader(Intake& intake) : intake_(intake) {}

  void line(std::string_view text) override {
    if (text.empty()) return;
    if (text.front() == '#') return comment(text);
    const std::size_t name_end = text.find_first_of("{ ");
    if (name_end == std::string_view::npos) return intake_.refuse(text, text, "a metric without a value");
    if (!select(text.substr(0, name_end))) return;  // a metric we do not use
    value_line(text, name_end);
  }

  void finish() override { flush(); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Series {  // one set of labels, as written in the text
    std::string labels;
    std::size_t device = 0;  // of pending_
    std::size_t next = 0;    // the set that followed it last time
  };
  struct Pending {  // the sample of a device and owner in this scrape
    int device = 0;
    Sample sample = {};
    std::uint32_t unusable = 0;  // metrics with impossible values
    std::optional<double> free = {}, reserved = {};
    bool timed = false, repeated = false;
    bool unique = false;          // the device has a unique ID
    std::size_t series = kNone;   // index in series_ of its labels
    bool owned = false;           // labels name an owner
    std::size_t sibling = kNone;  // of the same device: the one without an owner, or the last one with
  };
  struct Name {
    std::string text;
    std::optional<MetricSpec> spec;
    ShareScale scale;
    std::uint64_t scrape = 0;  // the last it occurred in
    std::size_t next = 0;      // the name that followed it
  };

  // A metric that is announced again starts a new scrape, even if it is the only metric.
  void comment(std::string_view text) {
    constexpr std::string_view kHelp = "# HELP ";
    if (!text.starts_with(kHelp)) return;
    const std::string_view rest = text.substr(kHelp.size());
    const std::string_view name = rest.substr(0, rest.find(' '));
    if (current_ < names_.size() && names_[current_].text == name && !timed_) {
      flush();
      names_[current_].scrape = scrape_;
    }
  }

  // Makes `name` the current metric; false if it is one we do not use.
  bool select(std::string_view name) {
    if (current_ >= names_.size() || names_[current_].text != name) {
      const std::size_t before = current_;
      current_ = find_name(name);
      if (before < names_.size()) names_[before].next = current_;
      Name& now = names_[current_];
      if (now.spec) {
        if (now.scrape == scrape_ && !timed_) flush();
        now.scrape = scrape_;
      }
    }
    return names_[current_].spec.has_value();
  }

  std::size_t find_name(std::string_view name) {
    const std::size_t guess = current_ < names_.size() ? names_[current_].next : 0;
    if (guess < names_.size() && names_[guess].text == name) return guess;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].text == name) return i;
    }
    constexpr std::size_t kMostNames = 4096;  // an exporter has a few hundred; endless new names must not fill memory
    if (names_.size() >= kMostNames) names_.clear();
    names_.push_back({std::string(name), spec_of(name), {}, 0, 0});
    return names_.size() - 1;
  }

  std::optional<MetricSpec> spec_of(std::string_view name) const {
    const std::optional<MetricSpec> part = find_metric(Vocabulary::kExporter, name);
    if (part && part->metric >= kMemoryFree) return part;
    return meaning_of(std::string(name), {}, intake_.names());
  }

  void value_line(std::string_view text, std::size_t name_end) {
    std::string_view labels, rest = text.substr(name_end);
    if (rest.front() == '{') {
      const std::size_t close = end_of_labels(rest);
      if (close == std::string_view::npos) return intake_.refuse(text, rest, "the labels do not end");
      labels = rest.substr(1, close - 1);
      rest.remove_prefix(close + 1);
    }
    const char* end = nullptr;
    auto raw = leading_number(rest.data(), rest.data() + rest.size(), end);
    if (!raw) {
      while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
      const std::size_t length = rest.starts_with("NaN")                                ? 3
                                 : rest.starts_with("+Inf") || rest.starts_with("-Inf") ? 4
                                                                                        : 0;
      if (length == 0) return intake_.refuse(text, rest, "no number behind the metric");
      raw = std::numeric_limits<double>::quiet_NaN();
      end = rest.data() + length;
    }
    const std::size_t series = find_series(labels);
    if (series == kNone) return intake_.refuse(text, labels, "these labels cannot be read");
    if (is_another(series)) split(series);
    Pending& pending = pending_[series_[series].device];
    const std::string_view after(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
    if (!trim(after).empty()) stamp(pending, trim(after));
    store(text, pending, *raw);
  }

  // Whether the same device has just reported this metric with other labels: they may be different GPUs, which only the
  // sink can decide.
  bool is_another(std::size_t series) const {
    const Pending& pending = pending_[series_[series].device];
    const Metric metric = names_[current_].spec->metric;
    return pending.series != series && !pending.unique && metric < kMemoryFree && pending.sample.has(metric);
  }

  void split(std::size_t series) {
    const std::optional<Device> device = parse_labels(series_[series].labels);
    const int opened = device ? intake_.open_series(*device) : -1;
    if (opened < 0) return;
    series_[series].device = pending_.size();
    pending_.push_back({.device = opened, .series = series});
  }

  // A '}' inside a quoted value does not end the labels.
  static std::size_t end_of_labels(std::string_view text) {
    const std::size_t close = text.rfind('}');
    if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != ' ')) {
      return std::string_view::npos;
    }
    return close;
  }

  // The time after the value: milliseconds since 1970, or seconds in OpenMetrics, which is marked only at the end ("#
  // EOF"). No reading is from before 1973, so the magnitude decides. A different time means a different scrape.
  void stamp(Pending& pending, std::string_view text) {
    constexpr double kFirstMilliseconds = 1e11;
    const std::optional<double> written = leading_number(text);
    if (!written) return;
    const double since_1970 = *written < kFirstMilliseconds ? *written : *written / 1e3;
    if (is_blank(since_1970)) return;
    const TimePoint time = unix_seconds(since_1970);
    if (pending.timed && pending.sample.time != time) hand_over(pending);
    pending.sample.time = time;
    pending.timed = timed_ = true;
  }

  void store(std::string_view text, Pending& pending, double raw) {
    Name& name = names_[current_];
    const MetricSpec& spec = *name.spec;
    if (spec.metric >= kMemoryFree) {
      auto& part = spec.metric == kMemoryFree ? pending.free : pending.reserved;
      if (!is_blank(raw) && raw >= 0) part = raw * spec.scale;
      return;
    }
    if (pending.sample.has(spec.metric)) {
      if (!pending.repeated && !pending.timed) {
        intake_.refuse(text, text, "the same metric of the same GPU and owner twice in one scrape");
      }
      pending.repeated = true;
      return;
    }
    auto value = spec.unsure ? name.scale.read(raw) : canonical(spec, raw);
    if (value) {
      pending.sample.set(spec.metric, *value);
    } else if (is_blank(raw) || raw < 0 || !spec.unsure) {
      pending.unusable |= 1U << static_cast<unsigned>(spec.metric);
    }
  }

  // The same sets of labels follow each other in the same order, metric for metric.
  std::size_t find_series(std::string_view labels) {
    const std::size_t guess = last_series_ < series_.size() ? series_[last_series_].next : kNone;
    if (guess < series_.size() && series_[guess].labels == labels) return last_series_ = guess;
    const std::size_t before = last_series_;
    auto found = by_labels_.find(std::string(labels));
    const std::size_t at = found != by_labels_.end() ? found->second : new_series(labels);
    if (at == kNone) return kNone;
    if (before < series_.size()) series_[before].next = at;
    return last_series_ = at;
  }

  std::size_t new_series(std::string_view labels) {
    if (series_.size() >= Intake::kMostDevices) return kNone;
    const std::optional<Device> device = parse_labels(labels);
    if (!device) return kNone;
    const auto [found, is_new] = by_owner_.try_emplace(device_and_owner(*device), pending_.size());
    if (is_new) {
      const int opened = intake_.open_series(*device);
      if (opened < 0) {
        by_owner_.erase(found);
        return kNone;
      }
      add_pending(*device, opened);
      pending_.back().series = series_.size();
    }
    series_.push_back({std::string(labels), found->second, 0});
    by_labels_.emplace(std::string(labels), series_.size() - 1);
    return series_.size() - 1;
  }

  std::optional<Device> parse_labels(std::string_view text) const {
    Labels labels;
    while (!text.empty()) {
      const std::size_t equals = text.find("=\"");
      if (equals == std::string_view::npos) return std::nullopt;
      const std::string_view name = trim(text.substr(0, equals));
      text.remove_prefix(equals + 2);
      std::string value;
      std::size_t i = 0;
      for (; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        value += text[i];
      }
      if (i == text.size()) return std::nullopt;
      if (!value.empty()) labels.insert_or_assign(std::string(name), std::move(value));
      text.remove_prefix(i + 1);
      while (!text.empty() && (text.front() == ',' || text.front() == ' ')) text.remove_prefix(1);
    }
    return device_of(labels, intake_.names());
  }

  static std::string device_and_owner(const Device& device) {
    std::string text = device.key() + "\n" + device.mig_profile;
    const auto add = [&](const auto& names) {
      for (const char* name : names) {
        const auto found = device.labels.find(name);
        if (found != device.labels.end() && !found->second.empty()) text += fmt::format("\n{}={}", name, found->second);
      }
    };
    add(kTeamLabels), add(kUserLabels), add(kPodLabels), add(kJobLabels), add(kJobNameLabels);
    return text;
  }

  void add_pending(const Device& device, int opened) {
    const std::string key = device.key() + "\n" + device.mig_profile;
    const std::string named = device_and_owner(device);
    const bool owned = named.size() > key.size();
    auto& [bare, last_owned] = siblings_.try_emplace(key, kNone, kNone).first->second;
    (owned ? last_owned : bare) = pending_.size();
    const std::size_t sibling = owned ? bare : last_owned;
    if (sibling != kNone) pending_[sibling].sibling = pending_.size();
    pending_.push_back({.device = opened, .unique = !device.uuid.empty(), .owned = owned, .sibling = sibling});
  }

  // Exporters do not put the pod on every metric: metrics that a device reports without an owner at the same time
  // belong to the owner's sample, unless it already has them.
  void join_sibling(Pending& pending) {
    if (pending.sibling == kNone) return;
    Pending& other = pending_[pending.sibling];
    Pending &owned = pending.owned ? pending : other, &bare = pending.owned ? other : pending;
    if (owned.sample.empty() || owned.timed != bare.timed) return;
    if (owned.timed && owned.sample.time != bare.sample.time) return;
    for (std::uint32_t rest = bare.sample.present() & ~owned.sample.present(); rest != 0; rest &= rest - 1) {
      const auto metric = static_cast<Metric>(std::countr_zero(rest));
      owned.sample.set(metric, *bare.sample.get(metric));
      bare.sample.clear(metric);
    }
    if (!owned.free) owned.free = std::exchange(bare.free, std::nullopt);
    if (!owned.reserved) owned.reserved = std::exchange(bare.reserved, std::nullopt);
  }

  // Ends the scrape: every sample goes out.
  void flush() {
    for (Pending& pending : pending_) hand_over(pending);
    ++scrape_;
  }

  void hand_over(Pending& pending) {
    join_sibling(pending);
    Sample& sample = pending.sample;
    if (!pending.timed) sample.time = intake_.scrape(scrape_ - 1);
    const auto used = sample.get(Metric::kMemoryUsed);
    if (used && pending.free && !sample.has(Metric::kMemoryTotal)) {
      sample.set(Metric::kMemoryTotal, *used + *pending.free + pending.reserved.value_or(0));
    }
    intake_.add(pending.device, sample, pending.unusable);
    pending = {.device = pending.device,
               .unique = pending.unique,
               .series = pending.series,
               .owned = pending.owned,
               .sibling = pending.sibling};
  }

  Intake& intake_;
  std::vector<Name> names_;
  std::vector<Series> series_;
  std::vector<Pending> pending_;
  std::unordered_map<std::string, std::size_t> by_labels_, by_owner_;
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> siblings_;  // by device: without owner, with one
  bool timed_ = false;                                                             // lines carry their time
  std::size_t current_ = kNone, last_series_ = kNone;
  std::uint64_t scrape_ = 1;
};

}  // namespace

std::unique_ptr<LineReader> make_exposition_reader(Intake& intake) {
  return std::make_unique<ExpositionReader>(intake);
}

}  // namespace rightsize::telemetry
