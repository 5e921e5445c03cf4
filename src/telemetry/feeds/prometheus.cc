#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "telemetry/feeds/feed_reader.h"

namespace rightsize::telemetry {
namespace {

class Reader final : public FeedReader {
 public:
  using FeedReader::FeedReader;

 private:
  // One answer of the API, or one line of VictoriaMetrics's export.
  void read_document() override {
    if (json_.peek() == '[') return read_list();
    std::string name, status, problem, kind;
    begin_series();
    bool is_series = false;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "status") {
        json_.read_string(status);
      } else if (name == "error") {
        json_.read_string(problem);
      } else if (name == "errorType") {
        json_.read_string(kind);
      } else if (name == "warnings" || name == "infos") {
        read_warnings(name == "warnings");
      } else if (name == "isPartial") {
        read_partial();
      } else if (name == "data") {
        read_data();
      } else if (read_series_member(name)) {
        is_series = true;
      }
    }
    if (is_series) end_series();
    if (status == "error") json_.refuse(fmt::format("the server answered: {} ({})", problem, kind));
  }

  void read_data() {
    if (json_.peek() == '[') return read_list();
    std::string name, kind;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "result" && json_.peek() == '[') {
        read_list();
      } else {
        json_.skip();
      }
    }
  }

  void read_list() {
    std::string name;
    for (json_.enter_array(); json_.next_item();) {
      if (json_.peek() != '{') {  // a scalar answer is no series
        json_.skip();
        continue;
      }
      begin_series();
      for (json_.enter_object(); json_.next_member(name);) read_series_member(name);
      if (json_.failed()) return;
      end_series();
    }
  }

  void begin_series() {
    head_ = {};
    has_head_ = open_ = false;
    early_.clear();
    times_.clear();
    values_.clear();
  }

  bool read_series_member(const std::string& name) {
    if (name == "metric" && json_.peek() == '{') {
      read_labels();
      return true;
    }
    if (name == "values" || name == "value" || name == "timestamps") {
      if (json_.peek() != '[') {
        json_.skip();
      } else if (name == "timestamps") {
        read_plain(times_);
        for (double& time : times_) time /= 1000;  // VictoriaMetrics exports milliseconds
      } else if (name == "value") {
        Point pair;
        if (json_.read_pair(pair)) give({&pair, 1});
      } else {
        read_values();
      }
      return true;
    }
    json_.skip();
    return false;
  }

  void read_labels() {
    std::string name, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (!json_.read_string(text)) return;
      if (name == "__name__") {
        head_.metric = text;
      } else {
        head_.labels.insert_or_assign(name, text);
      }
    }
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
    if (json_.peek() == '[') {
      std::array<Point, 256> pairs;
      for (bool more = true; more;) {
        std::size_t count = 0;
        more = json_.read_pairs(pairs, count);
        give(std::span(pairs).first(count));
      }
      return;
    }
    while (json_.next_item()) values_.push_back(json_.read_number().value_or(std::nan("")));
  }

  void read_plain(std::vector<double>& into) {
    for (json_.enter_array(); json_.next_item();) into.push_back(json_.read_number().value_or(std::nan("")));
  }

  void give(std::span<Point> points) {
    if (!has_head_) {  // values before labels: nobody writes that, but JSON allows it
      early_.insert(early_.end(), points.begin(), points.end());
      return;
    }
    auto is_none = [](const Point& point) { return !point.is_number(); };
    const auto first = std::find_if(points.begin(), points.end(), is_none);
    for (auto bad = first; open_ && bad != points.end(); ++bad) {
      if (is_none(*bad) && std::isfinite(in_unix_seconds(bad->time))) sink_.unusable(bad->time);
    }
    const auto end = std::remove_if(first, points.end(), is_none);
    const auto kept = static_cast<std::size_t>(end - points.begin());
    report_.missing += points.size() - kept;
    report_.points += kept;
    if (open_ && kept > 0) sink_.points(points.first(kept));
  }

  void end_series() {
    const std::size_t count = std::min(times_.size(), values_.size());
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) points[i] = {unix_seconds(times_[i]), values_[i]};
    give(points);
    if (open_) sink_.close();
    begin_series();
  }

  void read_partial() {
    const bool partial = json_.peek() == 't';
    json_.skip();
    report_.partial = report_.partial || partial;
  }

  void read_warnings(bool partial) {
    if (json_.peek() != '[') return json_.skip();
    std::string text;
    for (json_.enter_array(); json_.next_item();) {
      if (!json_.read_string(text)) return;
      report_.partial = report_.partial || partial;
      if (report_.warnings.size() < 10 &&
          std::find(report_.warnings.begin(), report_.warnings.end(), text) == report_.warnings.end()) {
        report_.warnings.push_back(text);
      }
    }
  }

  SeriesHead head_;
  bool has_head_ = false, open_ = false;
  std::vector<Point> early_;
  std::vector<double> times_, values_;
};

}  // namespace

Result<FeedReport> read_prometheus_json(ByteSource& source, const std::string& file, SeriesSink& sink) {
  return Reader(source, file, sink).read();
}

}  // namespace rightsize::telemetry
