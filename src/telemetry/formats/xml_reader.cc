// nvidia-smi -q -x: an element per line, once or repeated. Only elements named in data/metric_names.csv or below are
// read, by their path inside <gpu>, so that other versions of the schema can be read, too.
#include <memory>
#include <type_traits>
#include <vector>

#include <expat.h>
#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

struct Reason {
  std::string_view element;  // behind "clocks_event_reason_" or "clocks_throttle_reason_"
  unsigned bit;
};
constexpr Reason kReasons[] = {
    {"gpu_idle", 0x1},
    {"applications_clocks_setting", 0x2},
    {"sw_power_cap", 0x4},
    {"hw_slowdown", 0x8},
    {"sync_boost", 0x10},
    {"sw_thermal_slowdown", 0x20},
    {"hw_thermal_slowdown", 0x40},
    {"hw_power_brake_slowdown", 0x80},
    {"display_clocks_setting", 0x100},
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
      constexpr std::size_t kLongest = 4096;  // longer texts are none we read
      if (into.size() < kLongest) into.append(text, static_cast<std::size_t>(length));
    });
  }

  void opened(std::string_view name) {
    path_.emplace_back(name);
    text_.clear();
    constexpr std::size_t kDeepest = 64;
    if (path_.size() > kDeepest) broken_ = XML_StopParser(parser_.get(), XML_FALSE) == XML_STATUS_OK;
    if (name == "nvidia_smi_log") begin_log();
    if (name == "gpu") begin_gpu();
    if (name == "mig_device") begin_instance();
  }

  void closed(std::string_view name) {
    if (const std::string_view text = trim(text_); !text.empty()) content(text);
    text_.clear();
    if (name == "gpu" && in_gpu_) end_gpu();
    if (name == "mig_device" && in_instance_) end_instance();
    path_.pop_back();
  }

  void begin_log() {
    in_gpu_ = in_instance_ = false;
    time_ = intake_.scrape(logs_++);
  }

  void begin_gpu() {
    in_gpu_ = true;
    device_ = {};
    device_.index = index_in_log();
    sample_ = {};
    throttle_.reset();
  }

  void end_gpu() {
    in_gpu_ = false;
    if (throttle_) sample_.set(Metric::kThrottle, *throttle_);
    sample_.time = time_;
    if (const int opened = intake_.open(device_); opened >= 0) intake_.add(opened, sample_);
    gpus_ = device_.index + 1;
  }

  void begin_instance() {
    in_instance_ = true;
    instance_ = device_;
    instance_sample_ = {};
  }

  void end_instance() {
    in_instance_ = false;
    instance_.uuid = device_.uuid;  // comes after the instances in some versions, so it may be empty: the index holds
    instance_sample_.time = time_;
    if (const int opened = intake_.open(instance_); opened >= 0) intake_.add(opened, instance_sample_);
  }

  // nvidia-smi lists GPUs in order without numbers.
  int index_in_log() {
    if (logs_ != counted_log_) {
      counted_log_ = logs_;
      gpus_ = 0;
    }
    return gpus_;
  }

  void content(std::string_view text) {
    if (path_.empty()) return;
    const std::string& leaf = path_.back();
    if (!in_gpu_) {
      if (leaf == "timestamp") {
        if (auto time = parse_xml_time(text)) time_ = *time;
      }
      return;
    }
    if (in_instance_) return instance_content(leaf, text);
    if (leaf == "uuid") device_.uuid = std::string(text);
    if (leaf == "product_name") device_.name = std::string(text);
    if (path_.size() < 2) return;
    reason(leaf, text);
    metric(path_[path_.size() - 2], leaf, text, sample_);
  }

  void instance_content(const std::string& leaf, std::string_view text) {
    if (leaf == "gpu_instance_id") instance_.mig_id = std::string(text);
    if (leaf == "used" || leaf == "total") metric(path_[path_.size() - 2], leaf, text, instance_sample_);
  }

  void reason(std::string_view leaf, std::string_view text) {
    for (std::string_view prefix : {"clocks_event_reason_", "clocks_throttle_reason_"}) {
      if (!leaf.starts_with(prefix)) continue;
      for (const Reason& reason : kReasons) {
        if (leaf.substr(prefix.size()) != reason.element) continue;
        throttle_ = throttle_.value_or(0) + (text == "Active" ? reason.bit : 0);
      }
    }
  }

  static void metric(std::string_view parent, std::string_view leaf, std::string_view text, Sample& sample) {
    const std::optional<MetricSpec> spec = find_metric(Vocabulary::kXml, fmt::format("{}/{}", parent, leaf));
    // The average comes before the instantaneous power.
    if (spec && !sample.has(spec->metric)) set_metric(*spec, text, sample);
  }

  Intake& intake_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser_;
  bool broken_ = false;            // until the next log begins
  std::vector<std::string> path_;  // of open elements
  std::string text_;               // of the element opened last
  Device device_, instance_;
  Sample sample_, instance_sample_;
  std::optional<double> throttle_;
  bool in_gpu_ = false, in_instance_ = false;
  TimePoint time_;
  int gpus_ = 0;
  std::uint64_t logs_ = 0, counted_log_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_xml_reader(Intake& intake) { return std::make_unique<XmlReader>(intake); }

}  // namespace rightsize::telemetry
