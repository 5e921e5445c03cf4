// nvidia-smi dmon and pmon, and dcgmi dmon: columns named by comment lines that are repeated and may change.
#include <algorithm>
#include <set>
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
  DmonReader(Intake& intake, bool dcgmi) : intake_(intake), dcgmi_(dcgmi) {}

  void line(std::string_view text) override {
    std::vector<std::string_view> words = words_of(text);
    if (words.empty()) return;
    if (words[0].starts_with('#')) return header(std::move(words));
    if (dcgmi_ && (words[0] == "ID" || words[0].starts_with('('))) return;  // the header's second line: units
    if (pmon_ && words.size() > names_.size()) words.resize(names_.size());  // a command with spaces
    if (words.size() != names_.size() || (dcgmi_ && !words[0].starts_with("GPU"))) {
      return intake_.refuse(text, text, fmt::format("{} columns where the header has {}", words.size(), names_.size()));
    }
    row(text, words);
  }

  void finish() override { add_processes(); }

 private:
  // The processes of a GPU at one time, added up: they take turns on it.
  struct Processes {
    int device = -1;
    TimePoint time = {};
    Sample sum = {};
    std::set<std::string> pids = {};
  };

  void add_processes() {
    if (processes_.device >= 0) intake_.add(processes_.device, processes_.sum);
    processes_ = {};
  }

  void add_process(int device, std::optional<TimePoint> time, std::string_view pid, const Sample& sample) {
    const bool same = device == processes_.device &&
                      (time ? *time == processes_.time : !processes_.pids.contains(std::string(pid)));
    if (!same) {
      add_processes();
      processes_ = {.device = device, .time = time ? *time : intake_.untimed(device)};
      processes_.sum.time = processes_.time;
      processes_.sum.set(Metric::kGpuUtil, 0);  // "-": no process, or nothing ran
    }
    processes_.pids.emplace(pid);
    for (const Metric metric : {Metric::kGpuUtil, Metric::kMemoryUtil, Metric::kMemoryUsed}) {
      if (!sample.has(metric)) continue;
      const double sum = processes_.sum.get(metric).value_or(0) + *sample.get(metric);
      processes_.sum.set(metric, metric == Metric::kMemoryUsed ? sum : std::min(1.0, sum));
    }
  }

  // "# gpu  pwr ...", "#Entity  GRACT ..." or "# Entity GRACT ...". dmon's second comment line holds units and begins
  // with "Idx" or "YYYYMMDD". An entity is two words: "GPU 0".
  void header(std::vector<std::string_view> words) {
    words[0].remove_prefix(1);
    if (words[0].empty()) words.erase(words.begin());
    if (dcgmi_) {
      words.insert(words.begin() + 1, "id");
    } else if (std::ranges::find(words, "gpu") == words.end()) {
      return;
    }
    names_.assign(words.begin(), words.end());
    pmon_ = std::ranges::find(names_, "pid") != names_.end();
    specs_.clear();
    for (const std::string& name : names_)
      specs_.push_back(find_metric(dcgmi_ ? Vocabulary::kDcgmi : Vocabulary::kSmiDmon, name));
  }

  void row(std::string_view text, const std::vector<std::string_view>& words) {
    Sample sample;
    Device device;
    std::string_view date, time, pid, index = dcgmi_ ? words[1] : std::string_view{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (names_[i] == "Date") date = words[i];
      if (names_[i] == "Time") time = words[i];
      if (names_[i] == "gpu") index = words[i];
      if (names_[i] == "pid") pid = words[i];
      if (specs_[i]) set_metric(*specs_[i], words[i], sample);
    }
    const std::optional<double> number = leading_number(index);
    if (!number || *number < 0 || *number > 1e6) return intake_.refuse(text, index, "the GPU's index is not a number");
    // Under MIG dcgmi also lists "GPU-I 3" and "GPU-CI 3" below the GPU's line; a compute instance is counted in its
    // GPU instance.
    if (dcgmi_ && words[0] == "GPU-CI") return;
    if (!dcgmi_ || words[0] == "GPU") {
      gpu_ = static_cast<int>(*number);
    } else {
      device.mig_id = std::string(index);
    }
    device.index = gpu_;
    const int opened = intake_.open(device);
    if (opened < 0) return;
    const std::optional<TimePoint> clock = time.empty() ? std::nullopt : parse_dmon_time(date, time);
    if (!time.empty() && !clock) return intake_.refuse(text, time, "this is not a time that nvidia-smi writes");
    if (pmon_) return add_process(opened, clock, pid, sample);
    sample.time = clock ? *clock : intake_.untimed(opened);
    intake_.add(opened, sample);
  }

  Intake& intake_;
  bool dcgmi_, pmon_ = false;
  Processes processes_;
  std::vector<std::string> names_;
  std::vector<std::optional<MetricSpec>> specs_;
  int gpu_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_dmon_reader(Intake& intake, bool dcgmi) {
  return std::make_unique<DmonReader>(intake, dcgmi);
}

}  // namespace rightsize::telemetry
