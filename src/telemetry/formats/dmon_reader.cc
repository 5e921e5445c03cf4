// nvidia-smi dmon and dcgmi dmon: columns named by comment lines that are repeated, and may change.
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

// Words between spaces; dmon's csv form has commas between them.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \t,", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t,", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return words;
}

class DmonReader final : public LineReader {
 public:
  explicit DmonReader(Intake& intake) : intake_(intake) {}

  void line(std::string_view text) override {
    if (trim(text).empty()) return;
    if (text.front() == '#') return header(text.substr(1));
    const auto words = words_of(text);
    if (words.size() != names_.size()) {
      return intake_.refuse(text, text, fmt::format("{} columns where the header has {}", words.size(), names_.size()));
    }
    row(text, words);
  }

 private:
  // The second comment line holds units and begins with "Idx" or "YYYYMMDD".
  void header(std::string_view text) {
    const auto words = words_of(text);
    bool names = false;
    for (std::string_view word : words) names = names || word == "gpu";
    if (!names) return;
    names_.assign(words.begin(), words.end());
    specs_.clear();
    for (const std::string& name : names_) specs_.push_back(find_metric(Vocabulary::kSmiDmon, name));
  }

  void row(std::string_view text, const std::vector<std::string_view>& words) {
    Sample sample;
    std::string_view date, time;
    int device = -1;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (names_[i] == "Date") date = words[i];
      if (names_[i] == "Time") time = words[i];
      if (names_[i] == "gpu") device = device_of(words[i]);
      if (!specs_[i] || is_blank(words[i])) continue;
      if (auto raw = leading_number(words[i])) {
        if (auto value = canonical(*specs_[i], *raw)) sample.set(specs_[i]->metric, *value);
      }
    }
    if (device < 0) return intake_.refuse(text, text, "the GPU's index is not a number");
    if (time.empty()) {
      sample.time = intake_.untimed(device);
    } else if (auto clock = parse_dmon_time(date, time)) {
      sample.time = *clock;
    } else {
      return intake_.refuse(text, time, "this is no time nvidia-smi writes");
    }
    intake_.add(device, sample);
  }

  int device_of(std::string_view word) {
    auto index = leading_number(word);
    if (!index || *index < 0 || *index > 1e6) return -1;
    Device device;
    device.index = static_cast<int>(*index);
    return intake_.open(device);
  }

  Intake& intake_;
  std::vector<std::string> names_;
  std::vector<std::optional<MetricSpec>> specs_;
};

// "GPU 0     0.984 ...", under MIG also "GPU-I 3" and "GPU-CI 3": an instance has the GPU's line above it.
class DcgmiReader final : public LineReader {
 public:
  explicit DcgmiReader(Intake& intake) : intake_(intake) {}

  void line(std::string_view text) override {
    const auto words = words_of(text);
    if (words.empty()) return;
    if (words[0].starts_with('#')) return header(words);
    if (words[0] == "ID" || words[0].starts_with('(')) return;  // the header's second line: units
    if (words.size() != specs_.size() + 2 || !words[0].starts_with("GPU")) {
      return intake_.refuse(text, text, fmt::format("no row of an entity and {} values", specs_.size()));
    }
    row(text, words);
  }

 private:
  // "#Entity  GRACT ..." or "# Entity GRACT ...".
  void header(const std::vector<std::string_view>& words) {
    const std::size_t first = words[0] == "#" ? 2 : 1;
    specs_.clear();
    for (std::size_t i = first; i < words.size(); ++i) specs_.push_back(find_metric(Vocabulary::kDcgmi, words[i]));
  }

  void row(std::string_view text, const std::vector<std::string_view>& words) {
    auto id = leading_number(words[1]);
    if (!id || *id < 0 || *id > 1e6) return intake_.refuse(text, words[1], "the entity's number is not a number");
    Device device;
    if (words[0] == "GPU") {
      gpu_ = static_cast<int>(*id);
      device.index = gpu_;
    } else {
      if (words[0] == "GPU-CI") return;  // what a compute instance does is counted in its GPU instance
      device.index = gpu_;
      device.mig_id = std::string(words[1]);
    }
    const int opened = intake_.open(device);
    if (opened < 0) return;
    Sample sample;
    sample.time = intake_.untimed(opened);
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (!specs_[i] || is_blank(words[i + 2])) continue;
      if (auto raw = leading_number(words[i + 2])) {
        if (auto value = canonical(*specs_[i], *raw)) sample.set(specs_[i]->metric, *value);
      }
    }
    intake_.add(opened, sample);
  }

  Intake& intake_;
  std::vector<std::optional<MetricSpec>> specs_;
  int gpu_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_dmon_reader(Intake& intake) { return std::make_unique<DmonReader>(intake); }
std::unique_ptr<LineReader> make_dcgmi_reader(Intake& intake) { return std::make_unique<DcgmiReader>(intake); }

}  // namespace rightsize::telemetry
