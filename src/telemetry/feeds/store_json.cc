// The JSON of Prometheus, CloudWatch, Google Cloud Monitoring and Azure Monitor, read a series at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_reader.h"
#include "base/located_json.h"
#include "base/text.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::telemetry {
namespace {

// ISO text, or seconds since 1970; NaN if it is neither.
TimePoint time_of(const JsonValue* value) {
  const TimePoint none = unix_seconds(std::nan(""));
  if (value == nullptr) return none;
  if (value->type == JsonType::kNumber) return unix_seconds(value->number);
  return parse_iso_time(value->text).value_or(none);
}

// A point with its value under the first of `names` that has a number. A minute without data has only a time.
Point point_of(const JsonValue& value, std::string_view time, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::optional<double> number = number_at(value, name)) return {time_of(value_at(value, time)), *number};
  }
  return {time_of(value_at(value, time)), std::nan("")};
}

// A CloudWatch label: "nvidia_smi_utilization_gpu InstanceId=i-1 index=0" as ${PROP('Dim.X')} makes it, or the metric
// and the values of dimensions, "i-1 0 nvidia_smi_utilization_gpu", as the results of a search are labelled.
SeriesHead head_from_label(const std::string& label, const std::string& id) {
  SeriesHead head;
  std::vector<std::string> words;
  for (std::string_view word : split_list(label, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      head.labels.insert_or_assign(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
    } else {
      words.emplace_back(word);
    }
  }
  const auto known =
      std::ranges::find_if(words, [](const std::string& word) { return meaning_of(word, {}, {}).has_value(); });
  const auto metric = known != words.end() ? known : words.begin();
  if (metric != words.end()) {
    head.metric = *metric;
    words.erase(metric);
  }
  if (!head.labels.empty()) return head;
  if (words.empty() && !id.empty()) head.labels.emplace("Id", id);
  if (!words.empty()) head.labels.emplace("uuid", fmt::format("{}", fmt::join(words, " ")));
  return head;
}

class StoreReader {
 public:
  // All arguments must outlive this object.
  StoreReader(ByteSource& source, const std::string& file, const CloudWatchQueries& queries, SeriesSink& sink)
      : json_(source, file), queries_(queries), sink_(sink) {}

  Result<FeedReport> read(JsonFeed feed) {
    do {
      if (feed == JsonFeed::kCloudWatch) {
        read_cloudwatch();
      } else if (feed == JsonFeed::kGoogle) {
        read_google();
      } else if (feed == JsonFeed::kAzure) {
        read_azure({});
      } else {
        read_prometheus();
      }
    } while (json_.next_document());
    if (json_.failed()) return fail(json_.error());
    return std::move(report_);
  }

 private:
  // One whole series. Points without a number are left out and counted.
  void emit(const SeriesHead& head, std::vector<Point> points) {
    if (json_.failed()) return;
    ++report_.series;
    open_ = sink_.open(head);
    give(points);
    if (open_) sink_.close();
  }

  void give(std::span<Point> points) {
    const auto is_none = [](const Point& point) { return !point.is_number(); };
    const auto first = std::ranges::find_if(points, is_none);
    for (auto bad = first; open_ && bad != points.end(); ++bad) {
      if (is_none(*bad) && std::isfinite(in_unix_seconds(bad->time))) sink_.unusable(bad->time);
    }
    const auto kept = static_cast<std::size_t>(std::remove_if(first, points.end(), is_none) - points.begin());
    report_.missing += points.size() - kept;
    report_.points += kept;
    if (open_ && kept > 0) sink_.points(points.first(kept));
  }

  void set_partial(std::string warning = {}) {
    report_.partial = true;
    if (!warning.empty() && std::ranges::find(report_.warnings, warning) == report_.warnings.end() &&
        report_.warnings.size() < 10) {
      report_.warnings.push_back(std::move(warning));
    }
  }

  // Every item of an array, as a tree.
  template <class Take>
  void each_value(const Take& take) {
    json_.each_item([&] {
      if (json_.read_value(value_)) take(value_);
    });
  }

  // GetMetricData: {MetricDataResults: [{Id, Label, Timestamps, Values}]}; GetMetricStatistics: {Label, Datapoints}.
  void read_cloudwatch() {
    std::string label;
    std::vector<Point> points;
    json_.each_member([&](const std::string& name) {
      if (name == "MetricDataResults") {
        each_value([&](const JsonValue& result) { read_metric_data(result); });
      } else if (name == "Datapoints") {
        each_value([&](const JsonValue& p) { points.push_back(point_of(p, "Timestamp", {"Average", "Maximum"})); });
      } else if (json_.read_value(value_)) {
        if (name == "Label") label = value_.text;
        if (name == "NextToken" && value_.type == JsonType::kString)
          set_partial("a page has a NextToken: fetch the following pages too");
      }
    });
    if (!label.empty()) emit(head_from_label(label, ""), std::move(points));
  }

  void read_metric_data(const JsonValue& result) {
    const std::vector<JsonValue>&times = items_at(result, "Timestamps"), &values = items_at(result, "Values");
    std::vector<Point> points(std::min(times.size(), values.size()));
    for (std::size_t i = 0; i < points.size(); ++i)
      points[i] = {time_of(&times[i]), number_at(values[i], "").value_or(std::nan(""))};
    const std::string& status = text_at(result, "StatusCode");
    if (status == "PartialData" || status == "InternalError" || status == "Forbidden") set_partial();
    const auto query = queries_.by_id.find(text_at(result, "Id"));
    const std::string& id = text_at(result, "Id");
    emit(query != queries_.by_id.end() ? query->second : head_from_label(text_at(result, "Label"), id),
         std::move(points));
  }

  // projects.timeSeries.list; gcloud prints the bare list.
  void read_google() {
    const auto read_series = [&](const JsonValue& series) { read_google_series(series); };
    if (json_.peek() == '[') return each_value(read_series);
    json_.each_member([&](const std::string& name) {
      if (name == "timeSeries") return each_value(read_series);
      if (!json_.read_value(value_)) return;
      if (name == "nextPageToken" && !value_.text.empty())
        set_partial("a page has a nextPageToken: fetch the following pages too");
      if (name == "executionErrors" && value_.type == JsonType::kArray)
        set_partial("the answer contains executionErrors");
    });
  }

  void read_google_series(const JsonValue& series) {
    SeriesHead head{text_at(series, "metric.type"), {}, text_at(series, "metricKind") == "CUMULATIVE"};
    for (const char* part : {"metric.labels", "resource.labels"}) {
      const JsonValue* labels = value_at(series, part);
      if (labels == nullptr) continue;
      for (const JsonMember& label : labels->members) head.labels.insert_or_assign(label.name, label.value.text);
    }
    std::vector<Point> points;
    for (const JsonValue& p : items_at(series, "points"))
      points.push_back(point_of(p, "interval.endTime", {"value.doubleValue", "value.int64Value"}));
    emit(head, std::move(points));
  }

  // One resource's answer; the batch form holds a list of them under "values".
  void read_azure(Labels common) {
    json_.each_member([&](const std::string& name) {
      if (name == "values") {
        json_.each_item([&] { read_azure(common); });
      } else if (name == "value") {
        json_.each_item([&] { read_azure_metric(common); });
      } else if (json_.read_value(value_)) {
        if (name == "resourceregion") common.insert_or_assign("region", value_.text);
        if (name == "resourceid") common.insert_or_assign("resource", value_.text);
      }
    });
  }

  void read_azure_metric(Labels labels) {
    std::string metric;
    std::vector<std::pair<Labels, std::vector<Point>>> series;
    json_.each_member([&](const std::string& name) {
      if (name == "timeseries") {
        each_value([&](const JsonValue& one) { series.push_back(azure_series(one)); });
      } else if (json_.read_value(value_)) {
        if (name == "name") metric = text_at(value_, "value");
        if (name == "id")
          labels.insert_or_assign("resource", value_.text.substr(0, value_.text.find("/providers/Microsoft.Insights")));
        if (name == "errorCode" && value_.text != "Success") set_partial();
      }
    });
    for (auto& [own, points] : series) {
      own.insert(labels.begin(), labels.end());
      emit({metric, std::move(own)}, std::move(points));
    }
  }

  static std::pair<Labels, std::vector<Point>> azure_series(const JsonValue& series) {
    std::pair<Labels, std::vector<Point>> read;
    for (const JsonValue& p : items_at(series, "data"))
      read.second.push_back(point_of(p, "timeStamp", {"average", "total", "maximum"}));
    for (const JsonValue& dimension : items_at(series, "metadatavalues")) {
      const std::string& key = text_at(dimension, "name.value");
      if (!key.empty()) read.first.insert_or_assign(to_lower(key), text_at(dimension, "value"));
    }
    return read;
  }

  // One answer of Prometheus's API, a bare list of series, or one line of VictoriaMetrics's export. Points go to the
  // sink in blocks, for series of any length.
  void read_prometheus() {
    if (json_.peek() == '[') return read_series_list();
    std::string status, problem, kind;
    begin_series();
    bool is_series = false;
    json_.each_member([&](const std::string& name) {
      if (name == "data") {
        if (json_.peek() == '[') return read_series_list();
        json_.each_member([&](const std::string& inner) { inner == "result" ? read_series_list() : json_.skip(); });
      } else if (read_series_member(name)) {
        is_series = true;
      } else if (json_.read_value(value_)) {
        if (name == "status") status = value_.text;
        if (name == "error") problem = value_.text;
        if (name == "errorType") kind = value_.text;
        if (name == "isPartial" && value_.boolean) set_partial();
        for (const JsonValue& item : value_.items) {
          const bool partial = report_.partial;
          if (name == "warnings" || name == "infos") set_partial(item.text);
          if (name == "infos") report_.partial = partial;
        }
      }
    });
    if (is_series) end_series();
    if (status == "error") json_.refuse(fmt::format("the server answered: {} ({})", problem, kind));
  }

  void read_series_list() {
    json_.each_item([&] {
      if (json_.peek() != '{') return json_.skip();  // a scalar answer is not a series
      begin_series();
      json_.each_member([&](const std::string& name) {
        if (!read_series_member(name)) json_.skip();
      });
      if (!json_.failed()) end_series();
    });
  }

  void begin_series() {
    head_ = {};
    has_head_ = open_ = false;
    early_.clear();
    times_.clear();
    values_.clear();
  }

  // Reads nothing and returns false if this is not a member of a series.
  bool read_series_member(const std::string& name) {
    if (name == "metric" && json_.peek() == '{') {
      read_labels();
    } else if (json_.peek() != '[' || (name != "values" && name != "value" && name != "timestamps")) {
      return false;
    } else if (name == "timestamps") {  // VictoriaMetrics exports milliseconds
      json_.each_item([&] { times_.push_back(json_.read_number().value_or(std::nan("")) / 1000); });
    } else if (name == "value") {
      if (JsonReader::Pair pair; json_.read_pair(pair)) give_pairs({&pair, 1});
    } else {
      read_values();
    }
    return true;
  }

  void read_labels() {
    std::string text;
    json_.each_member([&](const std::string& name) {
      if (json_.read_string(text)) (name == "__name__" ? head_.metric : head_.labels[name]) = text;
    });
    if (json_.failed()) return;
    has_head_ = true;
    ++report_.series;
    open_ = sink_.open(head_);
    give(early_);
    early_.clear();
  }

  // [[time, "value"], ...], or VictoriaMetrics's plain [value, ...].
  void read_values() {
    if (!json_.enter_array()) return;
    if (json_.peek() != '[') {
      while (json_.next_item()) values_.push_back(json_.read_number().value_or(std::nan("")));
      return;
    }
    std::array<JsonReader::Pair, 256> pairs;
    for (bool more = true; more;) {
      std::size_t count = 0;
      more = json_.read_pairs(pairs, count);
      give_pairs(std::span(pairs).first(count));
    }
  }

  // Values that precede the labels are kept: no store writes them in this order, but JSON allows it.
  void give_pairs(std::span<const JsonReader::Pair> pairs) {
    if (has_head_) block_.clear();
    std::vector<Point>& into = has_head_ ? block_ : early_;
    for (const JsonReader::Pair& pair : pairs) into.push_back({unix_seconds(pair.first), pair.second});
    if (has_head_) give(block_);
  }

  void end_series() {
    block_.clear();
    for (std::size_t i = 0; i < std::min(times_.size(), values_.size()); ++i)
      block_.push_back({unix_seconds(times_[i]), values_[i]});
    if (has_head_) give(block_);
    if (open_) sink_.close();
    begin_series();
  }

  JsonReader json_;
  const CloudWatchQueries& queries_;
  SeriesSink& sink_;
  FeedReport report_;
  JsonValue value_;  // the last value that was read as a tree
  SeriesHead head_;
  bool has_head_ = false, open_ = false;
  std::vector<Point> early_, block_;
  std::vector<double> times_, values_;
};

// One entry of MetricDataQueries; expressions (no MetricStat) have no GPU.
void read_query(const LocatedJson& json, const JsonValue& value, Errors& errors, CloudWatchQueries& queries) {
  if (value.type != JsonType::kObject) return;
  JsonObject query(json, value, errors);
  const std::optional<std::string> id = query.get_string("Id");
  const std::optional<JsonObject> stat = query.get_object("MetricStat");
  if (!id || !stat) return;
  const JsonObject metric = stat->get_object_or_empty("Metric");
  SeriesHead head;
  head.metric = metric.get_string("MetricName").value_or("");
  for (const JsonValue& item : items_at(metric.value(), "Dimensions")) {
    if (!text_at(item, "Name").empty()) head.labels.insert_or_assign(text_at(item, "Name"), text_at(item, "Value"));
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
    return fail(
        Errors{bad_input("no list of MetricDataQueries here")
                   .at(json.place(json.root()))
                   .with_hint("give the file that 'aws cloudwatch get-metric-data --metric-data-queries' was given")});
  }
  for (const JsonValue& item : list->items) read_query(json, item, errors, queries);
  if (!errors.empty()) return fail(std::move(errors));
  return queries;
}

Result<FeedReport> read_store_json(JsonFeed feed, ByteSource& source, const std::string& file, SeriesSink& sink,
                                   const CloudWatchQueries& queries) {
  return StoreReader(source, file, queries, sink).read(feed);
}

JsonFeed detect_json_feed(std::string_view text) {
  const std::string_view start = trim(text);
  if (start.empty() || (start.front() != '{' && start.front() != '[')) return JsonFeed::kUnknown;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("\"MetricDataQueries\"") || has("\"MetricStat\"")) return JsonFeed::kCloudWatchQueries;
  if (has("\"MetricDataResults\"") || has("\"Datapoints\"")) return JsonFeed::kCloudWatch;
  if (has("\"timeSeries\"") || (has("\"points\"") && has("\"resource\""))) return JsonFeed::kGoogle;
  if (has("\"timeseries\"") || has("\"resourceregion\"") || has("Microsoft.")) return JsonFeed::kAzure;
  const bool prometheus = has("\"resultType\"") || has("\"__name__\"") || has("\"status\"") || has("\"metric\"");
  return prometheus ? JsonFeed::kPrometheus : JsonFeed::kUnknown;
}

std::string_view name_of(JsonFeed feed) {
  switch (feed) {
    case JsonFeed::kCloudWatch:
    case JsonFeed::kCloudWatchQueries:
      return "CloudWatch";
    case JsonFeed::kGoogle:
      return "Google Cloud Monitoring";
    case JsonFeed::kAzure:
      return "Azure Monitor";
    default:
      return "Prometheus JSON";
  }
}

}  // namespace rightsize::telemetry
