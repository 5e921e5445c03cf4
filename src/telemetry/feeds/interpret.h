// The meaning of a series of a metrics store: device, metric and unit.
//
// telemetry/labels.h knows the names of exporters and clouds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "telemetry/feeds/feeds.h"
#include "telemetry/labels.h"
#include "telemetry/metric_names.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

// Turns the points of series into samples of one metric each.
class SeriesToSamples : public SeriesSink {
 public:
  // Both must outlive this object.
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
  std::vector<Point> held_back_;  // of an ambiguous or cumulative series, until it is complete
};

}  // namespace rightsize::telemetry
