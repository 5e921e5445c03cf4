#include <cmath>

#include "base/text.h"
#include "telemetry/feeds/feed_reader.h"

namespace rightsize::telemetry {
namespace {

struct Series {
  Labels labels;
  std::vector<Point> points;
};

class Reader final : public FeedReader {
 public:
  using FeedReader::FeedReader;

 private:
  void read_document() override { read_answer({}); }

  // One resource's answer; the batch form holds a list of them under "values".
  void read_answer(Labels common) {
    std::string name, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "values" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) read_answer(common);
      } else if (name == "value" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) read_metric(common);
      } else if ((name == "resourceregion" || name == "resourceid") && json_.peek() == '"') {
        if (json_.read_string(text)) common.insert_or_assign(name == "resourceid" ? "resource" : "region", text);
      } else {
        json_.skip();
      }
    }
  }

  void read_metric(Labels labels) {
    std::string name, text, metric;
    std::vector<Series> series;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "name" && json_.peek() == '{') {
        metric = read_localized();
      } else if (name == "id" && json_.peek() == '"') {
        if (json_.read_string(text)) {
          labels.insert_or_assign("resource", text.substr(0, text.find("/providers/Microsoft.Insights")));
        }
      } else if (name == "errorCode" && json_.peek() == '"') {
        if (json_.read_string(text) && text != "Success") report_.partial = true;
      } else if (name == "timeseries" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) series.push_back(read_series());
      } else {
        json_.skip();
      }
    }
    for (Series& one : series) {
      one.labels.insert(labels.begin(), labels.end());
      emit({metric, std::move(one.labels)}, one.points);
    }
  }

  std::string read_localized() {
    std::string name, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "value" && json_.peek() == '"') {
        json_.read_string(text);
      } else {
        json_.skip();
      }
    }
    return text;
  }

  Series read_series() {
    Series series;
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "metadatavalues" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) read_dimension(series.labels);
      } else if (name == "data" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) series.points.push_back(read_point());
      } else {
        json_.skip();
      }
    }
    return series;
  }

  void read_dimension(Labels& labels) {
    std::string name, key, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "name" && json_.peek() == '{') {
        key = read_localized();
      } else if (name == "value" && json_.peek() == '"') {
        json_.read_string(text);
      } else {
        json_.skip();
      }
    }
    if (!key.empty()) labels.insert_or_assign(to_lower(key), text);
  }

  // A minute nobody reported has a time and nothing else.
  Point read_point() {
    std::string name, text;
    TimePoint time = unix_seconds(std::nan(""));
    double average = std::nan(""), other = std::nan("");
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "timeStamp" && json_.peek() == '"') {
        if (json_.read_string(text)) time = parse_iso_time(text).value_or(time);
      } else if (name == "average") {
        average = json_.read_number().value_or(average);
      } else if (name == "total" || name == "maximum") {
        other = json_.read_number().value_or(other);
      } else {
        json_.skip();
      }
    }
    return {time, std::isnan(average) ? other : average};
  }
};

}  // namespace

Result<FeedReport> read_azure_json(ByteSource& source, const std::string& file, SeriesSink& sink) {
  return Reader(source, file, sink).read();
}

JsonFeed detect_json_feed(std::string_view text) {
  const std::string_view start = trim(text);
  if (start.empty() || (start.front() != '{' && start.front() != '[')) return JsonFeed::kUnknown;
  auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("\"MetricDataQueries\"") || has("\"MetricStat\"")) return JsonFeed::kCloudWatchQueries;
  if (has("\"MetricDataResults\"") || has("\"Datapoints\"")) return JsonFeed::kCloudWatch;
  if (has("\"timeSeries\"") || (has("\"points\"") && has("\"resource\""))) return JsonFeed::kGoogle;
  if (has("\"timeseries\"") || has("\"resourceregion\"") || has("Microsoft.")) return JsonFeed::kAzure;
  if (has("\"resultType\"") || has("\"__name__\"") || has("\"status\"") || has("\"metric\"")) {
    return JsonFeed::kPrometheus;
  }
  return JsonFeed::kUnknown;
}

}  // namespace rightsize::telemetry
