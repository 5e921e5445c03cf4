#include <cmath>

#include "telemetry/feeds/feed_reader.h"

namespace rightsize::telemetry {
namespace {

// projects.timeSeries.list. Points stand before nothing we need, but labels may stand after them, so a series is kept
// until it is whole.
class Reader final : public FeedReader {
 public:
  using FeedReader::FeedReader;

 private:
  void read_document() override {
    std::string name, token;
    if (json_.peek() == '[') {  // gcloud prints the bare list
      for (json_.enter_array(); json_.next_item();) read_series();
      return;
    }
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "timeSeries" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) read_series();
      } else if (name == "nextPageToken" && json_.peek() == '"') {
        json_.read_string(token);
      } else if (name == "executionErrors" && json_.peek() == '[') {
        json_.skip();
        report_.partial = true;
        report_.warnings = {"the answer carries executionErrors"};
      } else {
        json_.skip();
      }
    }
    if (!token.empty()) {
      report_.partial = true;
      report_.warnings = {"a page has a nextPageToken: fetch the following pages too"};
    }
  }

  void read_labels(SeriesHead& head, bool is_metric) {
    std::string name, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "type" && json_.peek() == '"') {
        json_.read_string(text);
        if (is_metric) head.metric = text;
      } else if (name == "labels" && json_.peek() == '{') {
        std::string label;
        for (json_.enter_object(); json_.next_member(label);) {
          if (json_.read_string(text)) head.labels.insert_or_assign(label, text);
        }
      } else {
        json_.skip();
      }
    }
  }

  void read_series() {
    SeriesHead head;
    std::string name, text;
    std::vector<Point> points;
    for (json_.enter_object(); json_.next_member(name);) {
      if ((name == "metric" || name == "resource") && json_.peek() == '{') {
        read_labels(head, name == "metric");
      } else if (name == "metricKind" && json_.peek() == '"') {
        json_.read_string(text);
        head.cumulative = text == "CUMULATIVE";
      } else if (name == "points" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) points.push_back(read_point());
      } else {
        json_.skip();
      }
    }
    emit(head, points);
  }

  Point read_point() {
    std::string name, inner, text;
    Point point{unix_seconds(std::nan("")), std::nan("")};
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "interval" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(inner);) {
          if (inner == "endTime" && json_.peek() == '"') {
            if (json_.read_string(text)) point.time = parse_iso_time(text).value_or(point.time);
          } else {
            json_.skip();
          }
        }
      } else if (name == "value" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(inner);) {
          if (inner == "doubleValue" || inner == "int64Value") {
            point.value = json_.read_number().value_or(point.value);
          } else {
            json_.skip();
          }
        }
      } else {
        json_.skip();
      }
    }
    return point;
  }
};

}  // namespace

Result<FeedReport> read_google_json(ByteSource& source, const std::string& file, SeriesSink& sink) {
  return Reader(source, file, sink).read();
}

}  // namespace rightsize::telemetry
