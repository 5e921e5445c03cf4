#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/text.h"
#include "telemetry/feeds/feed_reader.h"

namespace rightsize::telemetry {
namespace {

// "nvidia_smi_utilization_gpu InstanceId=i-1 index=0": a label as ${PROP('Dim.X')} makes it.
SeriesHead head_from_label(const std::string& label) {
  SeriesHead head;
  for (std::string_view word : split_list(label, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      if (head.metric.empty()) head.metric = word;
    } else {
      head.labels.insert_or_assign(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
    }
  }
  return head;
}

// CLI v2 writes ISO times, SDKs seconds since 1970.
TimePoint read_time(JsonStream& json) {
  const TimePoint none = unix_seconds(std::nan(""));
  if (json.peek() != '"') return unix_seconds(json.read_number().value_or(std::nan("")));
  std::string text;
  return json.read_string(text) ? parse_iso_time(text).value_or(none) : none;
}

class Reader final : public FeedReader {
 public:
  Reader(ByteSource& source, const std::string& file, const CloudWatchQueries& queries, SeriesSink& sink)
      : FeedReader(source, file, sink), queries_(queries) {}

 private:
  void read_document() override {
    std::string name, label;
    std::vector<Point> points;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "MetricDataResults" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) read_result();
      } else if (name == "Label" && json_.peek() == '"') {
        json_.read_string(label);
      } else if (name == "Datapoints" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) points.push_back(read_datapoint());
      } else if (name == "NextToken" && json_.peek() == '"') {
        json_.skip();
        report_.partial = true;
        report_.warnings = {"a page has a NextToken: fetch the following pages too"};
      } else {
        json_.skip();
      }
    }
    if (!label.empty()) emit(head_of("", label), points);
  }

  void read_result() {
    std::string name, id, label, status;
    std::vector<TimePoint> times;
    std::vector<double> values;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "Id" && json_.peek() == '"') {
        json_.read_string(id);
      } else if (name == "Label" && json_.peek() == '"') {
        json_.read_string(label);
      } else if (name == "StatusCode" && json_.peek() == '"') {
        json_.read_string(status);
      } else if (name == "Timestamps" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) times.push_back(read_time(json_));
      } else if (name == "Values" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) values.push_back(json_.read_number().value_or(std::nan("")));
      } else {
        json_.skip();
      }
    }
    if (status == "PartialData" || status == "InternalError" || status == "Forbidden") report_.partial = true;
    std::vector<Point> points(std::min(times.size(), values.size()));
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = {times[i], values[i]};
    emit(head_of(id, label), points);
  }

  Point read_datapoint() {
    std::string name;
    Point point{unix_seconds(std::nan("")), std::nan("")};
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "Timestamp") {
        point.time = read_time(json_);
      } else if (name == "Average" || (name == "Maximum" && std::isnan(point.value))) {
        point.value = json_.read_number().value_or(point.value);
      } else {
        json_.skip();
      }
    }
    return point;
  }

  SeriesHead head_of(const std::string& id, const std::string& label) const {
    const auto query = queries_.by_id.find(id);
    return query != queries_.by_id.end() ? query->second : head_from_label(label);
  }

  const CloudWatchQueries& queries_;
};

// One entry of MetricDataQueries; expressions (no MetricStat) have no GPU of their own.
void read_query(const LocatedJson& json, const JsonValue& value, Errors& errors, CloudWatchQueries& queries) {
  if (value.type != JsonType::kObject) return;
  JsonObject query(json, value, errors);
  const std::optional<std::string> id = query.get_string("Id");
  const std::optional<JsonObject> stat = query.get_object("MetricStat");
  if (!id || !stat) return;
  const JsonObject metric = stat->get_object_or_empty("Metric");
  SeriesHead head;
  head.metric = metric.get_string("MetricName").value_or("");
  if (const JsonMember* dimensions = metric.find("Dimensions")) {
    for (const JsonValue& item : dimensions->value.items) {
      if (item.type != JsonType::kObject) continue;
      JsonObject dimension(json, item, errors);
      const std::optional<std::string> name = dimension.get_string("Name"), text = dimension.get_string("Value");
      if (name && text) head.labels.insert_or_assign(*name, *text);
    }
  }
  queries.by_id.insert_or_assign(*id, std::move(head));
}

}  // namespace

Checked<CloudWatchQueries> parse_cloudwatch_queries(const std::string& file, std::string text) {
  RIGHTSIZE_TRY(const LocatedJson json, LocatedJson::parse(file, std::move(text)));
  Errors errors;
  CloudWatchQueries queries;
  const JsonValue* list = &json.root();
  if (const JsonMember* member = list->find("MetricDataQueries")) list = &member->value;
  if (list->type != JsonType::kArray) {
    errors.push_back(
        bad_input("no list of MetricDataQueries here")
            .at(json.place(json.root()))
            .with_hint("give the file that 'aws cloudwatch get-metric-data --metric-data-queries' was given"));
    return fail(std::move(errors));
  }
  for (const JsonValue& item : list->items) read_query(json, item, errors, queries);
  if (!errors.empty()) return fail(std::move(errors));
  return queries;
}

Result<FeedReport> read_cloudwatch_json(ByteSource& source, const std::string& file, const CloudWatchQueries& queries,
                                        SeriesSink& sink) {
  return Reader(source, file, queries, sink).read();
}

}  // namespace rightsize::telemetry
