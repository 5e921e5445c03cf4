// gpustat --json, once or repeated: each document is one reading per GPU. Its members have nvidia-smi's names.
#include <algorithm>
#include <map>

#include "base/json_reader.h"
#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

class GpustatReader final : public LineReader {
 public:
  explicit GpustatReader(Intake& intake) : intake_(intake) {}

  // A document ends with a brace that is not indented, or fills a line.
  void line(std::string_view line) override {
    constexpr std::size_t kMost = 16U << 20;
    if (line.starts_with('{')) text_.clear();  // the document before may be cut short
    if (text_.size() < kMost) text_.append(line).append("\n");
    if (line.starts_with('}') || (line.starts_with('{') && line.ends_with('}'))) document(line);
  }

 private:
  void document(std::string_view line) {
    const Checked<LocatedJson> json = LocatedJson::parse("", std::move(text_));
    text_.clear();
    if (!json) return intake_.refuse(line, line, "not JSON: " + json.error().front().message);
    const JsonValue& root = json->root();
    const TimePoint time = parse_iso_time(text_at(root, "query_time")).value_or(intake_.scrape(documents_));
    ++documents_;
    for (const JsonValue& gpu : items_at(root, "gpus")) {
      Device device{.index = static_cast<int>(std::clamp(number_at(gpu, "index").value_or(0), 0.0, 1e6)),
                    .uuid = text_at(gpu, "uuid"),
                    .name = text_at(gpu, "name"),
                    .host = text_at(root, "hostname")};
      Sample sample;
      sample.time = time;
      for (const JsonMember& member : gpu.members) {
        const std::optional<MetricSpec> spec = find_metric(Vocabulary::kSmiQuery, member.name);
        const bool number = member.value.type == JsonType::kNumber;
        const std::optional<double> value = spec && number ? canonical(*spec, member.value.number) : std::nullopt;
        if (value) sample.set(spec->metric, *value);
      }
      std::string key = device.key();
      if (const std::string user = only_user(gpu); !user.empty()) {
        device.labels["user"] = user;
        key += "\n" + user;
      }
      const auto [at, fresh] = devices_.try_emplace(key, -1);
      if (fresh) at->second = intake_.open_series(device);
      if (at->second >= 0) intake_.add(at->second, sample);
    }
  }

  // The user of all processes; empty if there are several.
  static std::string only_user(const JsonValue& gpu) {
    std::string user;
    for (const JsonValue& process : items_at(gpu, "processes")) {
      const std::string& one = text_at(process, "username");
      if (!user.empty() && user != one) return {};
      user = one;
    }
    return user;
  }

  Intake& intake_;
  std::string text_;
  std::map<std::string, int> devices_;  // by device and user
  std::uint64_t documents_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_gpustat_reader(Intake& intake) { return std::make_unique<GpustatReader>(intake); }

}  // namespace rightsize::telemetry
