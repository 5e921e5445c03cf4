// The meaning of a series of a metrics store: device, metric and unit.
//
// It knows DCGM's old and new names, those of other exporters and of the clouds, and every spelling of labels seen in
// the field (Hostname and hostname, UUID and uuid, exported_pod). The user adds others with a NameMap.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/feeds/feeds.h"
#include "telemetry/metric_names.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

// The user's own names. `metrics`: the store's name -> our metric and the factor to its canonical unit. `labels`: one
// of kLabelWords (host, uuid, pod, ...) -> the store's label.
struct NameMap {
  std::map<std::string, MetricSpec> metrics;
  std::map<std::string, std::string> labels;
};

// "gpu_util=my_gpu_busy_percent*0.01" for a metric, "host=node_name" for a label; every mistake is reported, unknown
// words get a suggestion.
Checked<NameMap> parse_name_map(const std::vector<std::string>& flags);

// Nothing for an unknown name. Labels matter where a store uses one name for several metrics, as Google does for used
// and free memory.
std::optional<MetricSpec> meaning_of(const std::string& name, const Labels& labels, const NameMap& map);

// The device that labels describe. Owner labels keep the names of their store; those of the NameMap are added under
// our names.
Device device_of(const Labels& labels, const NameMap& map);

// The labels of `present` that device_of() looks at for a word such as "host", the most specific first.
std::vector<std::string> labels_of_word(const std::vector<std::string>& present, std::string_view word,
                                        const NameMap& map);

// Turns the points of series into samples of one metric each.
class SeriesToSamples : public SeriesSink {
 public:
  // Both must outlive it.
  SeriesToSamples(SampleSink& sink, const NameMap& map) : sink_(sink), map_(map) {}
  SeriesToSamples(SampleSink& sink, NameMap&& map) = delete;

  bool open(const SeriesHead& head) override;
  void point(const Point& point) override { points({&point, 1}); }
  void points(std::span<const Point> several) override;
  void unusable(TimePoint time) override { sink_.add_unusable(device_, meaning_.metric, time); }
  void close() override;

  const std::map<std::string, std::size_t>& unknown() const { return unknown_; }  // unknown names, and how often
  const std::map<std::string, Metric>& known() const { return known_; }

 private:
  void give(std::span<const Point> points);

  SampleSink& sink_;
  const NameMap& map_;
  std::map<std::string, std::size_t> unknown_;
  std::map<std::string, Metric> known_;
  MetricSpec meaning_;
  int device_ = -1;
  std::vector<Point> ready_;      // in canonical units, for the sink
  std::vector<Point> held_back_;  // of an ambiguous or a cumulative series, until it is whole
};

}  // namespace rightsize::telemetry
