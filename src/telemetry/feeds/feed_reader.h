// What the readers of stores' JSON share: documents one after the other, and series that go to a sink when they are
// whole.
#pragma once

#include <string>
#include <vector>

#include "telemetry/feeds/feeds.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::telemetry {

class FeedReader {
 public:
  // The source and the sink must outlive it.
  FeedReader(ByteSource& source, const std::string& file, SeriesSink& sink) : json_(source, file), sink_(sink) {}
  virtual ~FeedReader() = default;

  // Every document of the source, or its first mistake.
  Result<FeedReport> read();

 protected:
  virtual void read_document() = 0;
  // One series. Points without a number are left out and counted.
  void emit(const SeriesHead& head, const std::vector<Point>& points);

  JsonStream json_;
  SeriesSink& sink_;
  FeedReport report_;
};

}  // namespace rightsize::telemetry
