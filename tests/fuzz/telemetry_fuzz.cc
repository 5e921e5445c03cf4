// Any bytes as the output of a monitoring tool, in the detected format and in another one, chosen by the length of the
// input: finite samples within their range, or an error. The samples must not depend on how the bytes are split into
// reads.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/metric_names.h"
#include "telemetry/read.h"

namespace {

using namespace rightsize;
using namespace rightsize::telemetry;

struct Checking : SampleSink {
  int devices = 0;
  double sum = 0;
  int open(const Device& device) override {
    if (device.key().empty()) std::abort();
    return devices++;
  }
  void add(int device, const Sample& sample) override {
    if (device < 0 || device >= devices || sample.empty() || !std::isfinite(in_unix_seconds(sample.time))) std::abort();
    for (std::size_t i = 0; i < kMetrics; ++i) {
      const auto value = sample.get(static_cast<Metric>(i));
      if (!value) continue;
      if (!std::isfinite(*value) || *value < 0) std::abort();
      sum += *value * static_cast<double>(i + 1);
    }
    sum += in_unix_seconds(sample.time);
  }
};

// A few bytes per read, like a slow pipe.
class Dribble final : public ByteSource {
 public:
  explicit Dribble(std::string_view text) : rest_(text) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t size = std::min({buffer.size(), rest_.size(), std::size_t{7}});
    std::copy_n(rest_.data(), size, buffer.data());
    rest_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view rest_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr SampleFormat kFormats[] = {SampleFormat::kRecording, SampleFormat::kSmiQuery,  SampleFormat::kSmiDmon,
                                       SampleFormat::kSmiXml,    SampleFormat::kDcgmiDmon, SampleFormat::kExposition,
                                       SampleFormat::kSmiText};
  for (SampleFormat format : {SampleFormat::kUnknown, detect_format(text), kFormats[size % std::size(kFormats)]}) {
    Checking whole, dribbled;
    auto bytes = bytes_of(text);
    auto summary = read_samples("fuzz", *bytes, whole, {format, seconds(1)});
    if (!summary && describe(summary.error()).empty()) std::abort();
    if (format == SampleFormat::kUnknown) continue;  // a piece may end before the format can be detected
    Dribble slow(text);
    auto again = read_samples("fuzz", slow, dribbled, {format, seconds(1)});
    if (summary.has_value() != again.has_value() || whole.devices != dribbled.devices) std::abort();
    if (summary && (summary->samples != again->samples || whole.sum != dribbled.sum)) std::abort();
  }
  return 0;
}
