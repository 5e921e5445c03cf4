// Logs of nvidia-smi, once or repeated: -q -x (an element per line), -q (a key or a heading per line) and the table
// that it prints without options. Only elements named in data/metric_names.csv or below are read, by their path inside
// the GPU; other versions of the schema can be read, too.
#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <expat.h>
#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

// Names after "clocks_event_reason_" or "clocks_throttle_reason_", in the order of NVML's bits.
constexpr std::string_view kReasons[] = {
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clocks_setting",
};

// The elements of a log, whatever the text around them.
class SmiLogReader : public LineReader {
 public:
  explicit SmiLogReader(Intake& intake) : intake_(intake) {}

 protected:
  // The GPU or MIG instance of the open element.
  struct Reading {
    Device device;
    Sample sample = {};
  };

  void opened(std::string_view name) {
    path_.emplace_back(name);
    if (name == "nvidia_smi_log") {
      gpu_.reset(), instance_.reset();
      time_ = intake_.scrape(logs_++);
      gpus_ = 0;
    }
    // nvidia-smi lists GPUs in order; only the table numbers them.
    if (name == "gpu") {
      gpu_ = {.device = {.index = gpus_}};
      throttle_.reset();
    }
    if (name == "mig_device" && gpu_) instance_ = {.device = gpu_->device};
  }

  void closed() {
    const std::string name = std::move(path_.back());
    path_.pop_back();
    if (name == "gpu" && gpu_) {
      if (throttle_) gpu_->sample.set(Metric::kThrottle, *throttle_);
      hand_over(gpu_);
      ++gpus_;
    }
    if (name == "mig_device" && instance_) {
      if (gpu_)
        instance_->device.uuid = gpu_->device.uuid;  // empty if it comes after the instances; then the index decides
      hand_over(instance_);
    }
  }

  void content(std::string_view text) {
    if (path_.empty()) return;
    const std::string& leaf = path_.back();
    if (!gpu_) {
      if (leaf == "timestamp") time_ = parse_xml_time(text).value_or(time_);
      return;
    }
    const std::string_view parent = path_.size() < 2 ? std::string_view() : std::string_view(path_[path_.size() - 2]);
    if (instance_) {
      if (leaf == "gpu_instance_id") instance_->device.mig_id = std::string(text);
      if (leaf == "used" || leaf == "total") metric(parent, leaf, text, instance_->sample);
      return;
    }
    if (leaf == "uuid") gpu_->device.uuid = std::string(text);
    if (leaf == "product_name") gpu_->device.name = std::string(text);
    reason(leaf, text);
    metric(parent, leaf, text, gpu_->sample);
  }

  Intake& intake_;
  std::vector<std::string> path_;          // of open elements
  std::optional<Reading> gpu_, instance_;  // while their elements are open
  TimePoint time_;

 private:
  void hand_over(std::optional<Reading>& reading) {
    reading->sample.time = time_;
    if (const int opened = intake_.open(reading->device); opened >= 0) intake_.add(opened, reading->sample);
    reading.reset();
  }

  void reason(std::string_view leaf, std::string_view text) {
    for (std::string_view prefix : {"clocks_event_reason_", "clocks_throttle_reason_"}) {
      if (!leaf.starts_with(prefix)) continue;
      const auto found = std::ranges::find(kReasons, leaf.substr(prefix.size()));
      if (found == std::end(kReasons)) continue;
      throttle_ = throttle_.value_or(0) + (text == "Active" ? 1 << (found - std::begin(kReasons)) : 0);
    }
  }

  static void metric(std::string_view parent, std::string_view leaf, std::string_view text, Sample& sample) {
    const std::optional<MetricSpec> spec = find_metric(Vocabulary::kXml, fmt::format("{}/{}", parent, leaf));
    // The average comes before the instantaneous power.
    if (spec && !sample.has(spec->metric)) set_metric(*spec, text, sample);
  }

  std::optional<double> throttle_;
  int gpus_ = 0;  // of the log so far
  std::uint64_t logs_ = 0;
};

// Parses with expat, a line at a time. Logs follow one another, and one may be cut short by the next: every declaration
// starts over, and after a mistake the rest of that log is skipped.
class XmlReader final : public SmiLogReader {
 public:
  using SmiLogReader::SmiLogReader;

  void line(std::string_view text) override {
    const std::string_view bare = trim(text);
    if (bare.empty()) return;
    const bool declared = bare.starts_with("<?xml"), root = bare.starts_with("<nvidia_smi_log");
    if (declared || parser_ == nullptr || (root && (path_.empty() || broken_))) begin_document();
    if (broken_) return;
    const std::string_view fed = declared ? bare : text;
    if (XML_Parse(parser_.get(), fed.data(), static_cast<int>(fed.size()), XML_FALSE) == XML_STATUS_OK &&
        XML_Parse(parser_.get(), "\n", 1, XML_FALSE) == XML_STATUS_OK) {
      return;
    }
    broken_ = true;
    intake_.refuse(text, bare, fmt::format("not XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  }

 private:
  struct FreeParser {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };

  void begin_document() {
    parser_.reset(XML_ParserCreate(nullptr));
    path_.clear();
    broken_ = parser_ == nullptr;
    if (broken_) return;
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const char* name, const char**) { static_cast<XmlReader*>(self)->open_element(name); },
        [](void* self, const char*) { static_cast<XmlReader*>(self)->close_element(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int length) {
      std::string& into = static_cast<XmlReader*>(self)->text_;
      constexpr std::size_t kLongest = 4096;  // no text that we read is longer
      if (into.size() < kLongest) into.append(text, static_cast<std::size_t>(length));
    });
  }

  void open_element(std::string_view name) {
    opened(name);
    text_.clear();
    constexpr std::size_t kDeepest = 64;
    if (path_.size() > kDeepest) broken_ = XML_StopParser(parser_.get(), XML_FALSE) == XML_STATUS_OK;
  }

  void close_element() {
    if (const std::string_view text = trim(text_); !text.empty()) content(text);
    text_.clear();
    closed();
  }

  std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser_;
  bool broken_ = false;  // until the next log begins
  std::string text_;     // of the element opened last
};

// "  FB Memory Usage" and "    Used : 512 MiB": the indentation is the depth. The table has two lines for each GPU:
//   |   0  NVIDIA L4           On  |   00000000:0A:00.0 Off |                    0 |
//   | N/A   62C    P0   28W /  72W |   4131MiB /  23034MiB  |     99%      Default |
class SmiTextReader final : public SmiLogReader {
 public:
  using SmiLogReader::SmiLogReader;

  void line(std::string_view text) override {
    const std::string_view bare = trim(text);
    const bool log = bare.find("NVSMI LOG") != std::string_view::npos;
    if (log || (bare.starts_with("| NVIDIA-SMI") && !dated_) || parse_xml_time(bare)) {
      leave(0);
      opened("nvidia_smi_log");
      time_ = parse_xml_time(bare).value_or(time_);
      dated_ = !log && !bare.starts_with('|');
    } else if (bare.starts_with('|')) {
      dated_ = dated_ && !bare.starts_with("| NVIDIA-SMI");
      table_row(text, split_list(bare, '|'));
    } else if (!bare.empty() && !path_.empty()) {
      entry(text, bare);
    }
  }

  void finish() override { leave(0); }

 private:
  void leave(std::size_t depth) {
    while (path_.size() > depth) closed();
  }

  // "SW Power Cap" -> "sw_power_cap"
  static std::string folded(std::string_view key) {
    std::string name = to_lower(trim(key));
    std::ranges::replace(name, ' ', '_');
    return name;
  }

  void value(std::string name, std::string_view text) {
    path_.push_back(std::move(name));
    content(trim(text));
    path_.pop_back();
  }

  void entry(std::string_view text, std::string_view bare) {
    constexpr std::size_t kIndent = 4, kDeepest = 16;
    const std::size_t depth = std::min(text.find_first_not_of(' ') / kIndent, kDeepest);
    leave(depth + 1);
    const std::size_t colon = bare.find(" : ");
    if (colon == std::string_view::npos) return opened(depth == 0 && bare.starts_with("GPU ") ? "gpu" : folded(bare));
    std::string name = folded(bare.substr(0, colon));
    if (name == "gpu_uuid") name = "uuid";
    if (path_.back().starts_with("clocks_") && path_.back().ends_with("_reasons"))
      name = (name == "idle" ? "clocks_event_reason_gpu_" : "clocks_event_reason_") + name;
    value(std::move(name), bare.substr(colon + 3));
  }

  void table_row(std::string_view text, const std::vector<std::string_view>& cells) {
    if (cells.size() < 3 || path_.empty()) return;
    const std::string_view left = trim(cells[0]), middle = trim(cells[1]);
    const std::optional<double> index = leading_number(left);
    if (index && *index >= 0 && *index < 1e6 && middle.find(':') != std::string_view::npos) {
      leave(1);
      opened("gpu");
      gpu_->device.index = static_cast<int>(*index);
      // The last word is the persistence mode.
      const std::string_view name = left.substr(std::min(left.find(' '), left.size()));
      value("product_name", name.substr(0, name.rfind(' ')));
    } else if (gpu_ && path_.size() == 2 && middle.find("MiB /") != std::string_view::npos) {
      const std::size_t watts = left.rfind('/'), space = left.substr(0, watts).find_last_of(' ', watts - 2);
      const std::size_t bytes = middle.find('/');
      if (watts == std::string_view::npos || space == std::string_view::npos)
        return intake_.refuse(text, left, "this is not a row of nvidia-smi's table");
      opened("gpu_power_readings");
      value("power_draw", left.substr(space));
      value("current_power_limit", left.substr(watts + 1));
      closed();
      opened("fb_memory_usage");
      value("used", middle.substr(0, bytes));
      value("total", middle.substr(bytes + 1));
      closed();
      opened("utilization");
      value("gpu_util", cells[2]);
      leave(1);
    }
  }

  bool dated_ = false;  // the line before the table has the time
};

}  // namespace

std::unique_ptr<LineReader> make_xml_reader(Intake& intake) { return std::make_unique<XmlReader>(intake); }
std::unique_ptr<LineReader> make_smi_text_reader(Intake& intake) { return std::make_unique<SmiTextReader>(intake); }

}  // namespace rightsize::telemetry
