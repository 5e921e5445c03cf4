// Exports of metrics stores as JSON: Prometheus and compatible servers, Amazon CloudWatch, Google Cloud Monitoring,
// Azure Monitor.
//
// All of them contain named series of points. Series are passed on unchanged, one at a time, so a document of any
// length needs only the memory of one series. interpret.h determines the GPU, the metric and the unit of a series.
//
// Damaged text is an Error; points that are not numbers (NaN, staleness markers, blanks) are left out and counted.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "telemetry/labels.h"
#include "telemetry/sample.h"
#include "telemetry/times.h"

namespace rightsize::telemetry {

struct SeriesHead {
  std::string metric;  // "DCGM_FI_DEV_GPU_UTIL", "nvidia_smi_utilization_gpu", "agent.googleapis.com/gpu/utilization"
  Labels labels;       // dimensions, resource and metric labels in one map
  bool cumulative = false;  // a counter: points are totals since a start
};

// Receives series. Points of one series come in the order of the text, which may be newest first.
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  // Whether the series is wanted. If not, its points are skipped and close() is not called.
  virtual bool open(const SeriesHead& head) = 0;
  virtual void point(const Point& point) = 0;
  // Several points at once; by default they are passed on one by one.
  virtual void points(std::span<const Point> several) {
    for (const Point& p : several) point(p);
  }
  // A point without a numeric value.
  virtual void unusable(TimePoint /*time*/) {}
  virtual void close() = 0;
};

// A summary of the input, and the store's remarks about it.
struct FeedReport {
  std::size_t series = 0;
  std::size_t points = 0;
  std::size_t missing = 0;            // points without a number
  bool partial = false;               // the store reported an incomplete answer
  std::vector<std::string> warnings;  // the store's own words, each once
};

// CloudWatch identifies its results only by query ID; the query file (MetricDataQueries) maps IDs to metrics.
struct CloudWatchQueries {
  std::map<std::string, SeriesHead> by_id;
};
Checked<CloudWatchQueries> parse_cloudwatch_queries(const std::string& file, std::string text);

enum class JsonFeed { kPrometheus, kCloudWatch, kCloudWatchQueries, kGoogle, kAzure, kUnknown };
std::string_view name_of(JsonFeed feed);

// Detects the feed from the first few KiB of a text.
JsonFeed detect_json_feed(std::string_view beginning);

// Reads all documents of a source, pages one after the other:
//   kPrometheus  an HTTP answer (matrix, vector; also a bare list of series), or VictoriaMetrics's export (a series per
//                line). An answer with "status": "error" fails with the server's message.
//   kCloudWatch  GetMetricData, GetMetricStatistics. Without a query file the Label must identify the device:
//                "nvidia_smi_utilization_gpu InstanceId=i-1 index=0".
//   kGoogle      projects.timeSeries.list.
//   kAzure       the metrics REST answer of Azure Monitor, one resource or the batch form.
Result<FeedReport> read_store_json(JsonFeed feed, ByteSource& source, const std::string& file, SeriesSink& sink,
                                   const CloudWatchQueries& queries = {});

}  // namespace rightsize::telemetry
