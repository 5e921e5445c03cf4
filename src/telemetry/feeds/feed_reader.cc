#include "telemetry/feeds/feed_reader.h"

namespace rightsize::telemetry {

Result<FeedReport> FeedReader::read() {
  do {
    read_document();
  } while (json_.next_document());
  if (json_.failed()) return fail(json_.error());
  return std::move(report_);
}

void FeedReader::emit(const SeriesHead& head, const std::vector<Point>& points) {
  if (json_.failed()) return;
  ++report_.series;
  const bool wanted = sink_.open(head);
  for (const Point& point : points) {
    if (!point.is_number()) {
      ++report_.missing;
      continue;
    }
    ++report_.points;
    if (wanted) sink_.point(point);
  }
  if (wanted) sink_.close();
}

}  // namespace rightsize::telemetry
