// nvidia-smi -q -x: an element per line, once or repeated. Only elements named in data/metric_names.csv or below are
// read, by their path inside <gpu>; other versions of the schema can be read, too.
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

// Parses with expat, a line at a time. Logs follow one another, and one may be cut short by the next: every declaration
// starts over, and after a mistake the rest of that log is skipped.
class XmlReader final : public LineReader {
 public:
  explicit XmlReader(Intake& intake) : intake_(intake) {}

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
        parser_.get(), [](void* self, const char* name, const char**) { static_cast<XmlReader*>(self)->opened(name); },
        [](void* self, const char* name) { static_cast<XmlReader*>(self)->closed(name); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int length) {
      std::string& into = static_cast<XmlReader*>(self)->text_;
      constexpr std::size_t kLongest = 4096;  // no text that we read is longer
      if (into.size() < kLongest) into.append(text, static_cast<std::size_t>(length));
    });
  }

  void opened(std::string_view name) {
    path_.emplace_back(name);
    text_.clear();
    constexpr std::size_t kDeepest = 64;
    if (path_.size() > kDeepest) broken_ = XML_StopParser(parser_.get(), XML_FALSE) == XML_STATUS_OK;
    if (name == "nvidia_smi_log") {
      gpu_.reset(), instance_.reset();
      time_ = intake_.scrape(logs_++);
      gpus_ = 0;
    }
    // nvidia-smi lists GPUs in order without numbers.
    if (name == "gpu") {
      gpu_ = {.device = {.index = gpus_}};
      throttle_.reset();
    }
    if (name == "mig_device" && gpu_) instance_ = {.device = gpu_->device};
  }

  void closed(std::string_view name) {
    if (const std::string_view text = trim(text_); !text.empty()) content(text);
    text_.clear();
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
    path_.pop_back();
  }

  // The GPU or MIG instance of the open element.
  struct Reading {
    Device device;
    Sample sample = {};
  };

  void hand_over(std::optional<Reading>& reading) {
    reading->sample.time = time_;
    if (const int opened = intake_.open(reading->device); opened >= 0) intake_.add(opened, reading->sample);
    reading.reset();
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

  Intake& intake_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser_;
  bool broken_ = false;                    // until the next log begins
  std::vector<std::string> path_;          // of open elements
  std::string text_;                       // of the element opened last
  std::optional<Reading> gpu_, instance_;  // while their elements are open
  std::optional<double> throttle_;
  TimePoint time_;
  int gpus_ = 0;  // of the log so far
  std::uint64_t logs_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_xml_reader(Intake& intake) { return std::make_unique<XmlReader>(intake); }

}  // namespace rightsize::telemetry
