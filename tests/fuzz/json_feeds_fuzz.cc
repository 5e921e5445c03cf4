// Any bytes as every JSON feed: finite points of known series, or an error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/feeds/feeds.h"
#include "telemetry/feeds/interpret.h"

namespace {

using namespace rightsize;

class Watch : public telemetry::SeriesSink {
 public:
  bool open(const telemetry::SeriesHead& head) override {
    (void)telemetry::device_of(head.labels, {}).key();
    (void)telemetry::meaning_of(head.metric, head.labels, {});
    open_ = true;
    return true;
  }
  void point(const telemetry::Point& point) override {
    if (!open_ || !point.is_number()) std::abort();
  }
  void close() override { open_ = false; }

 private:
  bool open_ = false;
};

class Drop : public telemetry::SampleSink {
 public:
  int open(const telemetry::Device&) override { return count_++; }
  void add(int device, const telemetry::Sample& sample) override {
    if (device < 0 || device >= count_ || sample.empty()) std::abort();
  }

 private:
  int count_ = 0;
};

void judge(const Result<telemetry::FeedReport>& report) {
  if (!report && describe(report.error()).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)telemetry::detect_json_feed(text);
  (void)telemetry::parse_iso_time(text);
  telemetry::CloudWatchQueries queries;
  if (auto parsed = telemetry::parse_cloudwatch_queries("fuzz.json", text)) queries = *parsed;
  auto source = [&] { return bytes_of(text); };
  Watch watch;
  judge(telemetry::read_store_json(telemetry::JsonFeed::kPrometheus, *source(), "fuzz", watch));
  judge(telemetry::read_store_json(telemetry::JsonFeed::kCloudWatch, *source(), "fuzz", watch, queries));
  judge(telemetry::read_store_json(telemetry::JsonFeed::kGoogle, *source(), "fuzz", watch));
  judge(telemetry::read_store_json(telemetry::JsonFeed::kAzure, *source(), "fuzz", watch));
  Drop drop;
  telemetry::NameMap names;
  telemetry::SeriesToSamples samples(drop, names);
  judge(telemetry::read_store_json(telemetry::JsonFeed::kPrometheus, *source(), "fuzz", samples));
  judge(telemetry::read_store_json(telemetry::JsonFeed::kGoogle, *source(), "fuzz", samples));
  return 0;
}
