#include "fleet/prometheus_client.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::fleet {
namespace {

using telemetry::FeedReport;
using telemetry::JsonStream;

class RowSink : public telemetry::SeriesSink {
 public:
  bool open(const telemetry::SeriesHead& head) override {
    rows.push_back({head.labels, {}});
    return true;
  }
  void point(const telemetry::Point& point) override { rows.back().points.push_back(point); }
  void close() override {}

  std::vector<RangeRow> rows;
};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// The server's own words from an error answer; its first line where it is not JSON.
std::string words_of(const std::string& body) {
  std::unique_ptr<telemetry::ByteSource> source = telemetry::bytes_of(body);
  JsonStream json(*source, "answer");
  std::string name, text, message;
  if (json.peek() == '{') {
    for (json.enter_object(); json.next_member(name);) {
      if ((name == "error" || name == "message") && json.peek() == '"') {
        if (json.read_string(text)) message = text;
      } else {
        json.skip();
      }
    }
  }
  if (message.empty()) message = std::string(trim(std::string_view(body).substr(0, body.find('\n'))));
  return message.substr(0, 300);
}

Error refused(int status, const std::string& url, const std::string& body) {
  Error error = unreadable(fmt::format("{} answered {}: {}", http::shown_url(url), status, words_of(body)));
  if (status == 401 || status == 403) {
    error.hints.emplace_back("credentials: --bearer-file, --user with --password-file, --cert and --key, --org-id");
  } else if (status == 404) {
    error.hints.emplace_back(
        "the address is what stands before /api/v1: http://HOST:9090, http://VMSELECT:8481/select/0/prometheus, "
        "https://MIMIR/prometheus");
  }
  return error;
}

}  // namespace

bool means_too_much(int status) {
  // Prometheus says 422 when a question would load too many samples and 503 when it took too long, VictoriaMetrics 422
  // for all its limits, Mimir 422 and 413, proxies 504, and our own client 408.
  return status == 408 || status == 413 || status == 422 || status == 503 || status == 504;
}

Answered<std::string> PrometheusClient::ask(const std::string& path, const http::Form& form) {
  auto no_answer = [](Error error, bool too_much = false) {
    return tl::make_unexpected(QueryError{std::move(error), too_much});
  };
  std::string kept;
  if (!keep_.empty()) {
    std::string question = path;
    for (const auto& [name, value] : form) question += fmt::format("\n{}={}", name, value);
    kept = fmt::format("{}/{:016x}.json", keep_, hash_of(question));
    if (std::filesystem::exists(kept)) {
      Result<std::string> text = read_file(kept, 512U << 20);
      if (!text) return no_answer(std::move(text).error());
      return *std::move(text);
    }
  }
  const std::string url = base_ + path;
  Result<http::Answer> answer = post_refused_ ? client_.get(url, form) : client_.post_form(url, form);
  if (answer && answer->status == 405 && !post_refused_) {
    post_refused_ = true;
    answer = client_.get(url, form);
  }
  if (!answer) return no_answer(std::move(answer).error());
  if (answer->status != 200) {
    return no_answer(refused(answer->status, url, answer->body), means_too_much(answer->status));
  }
  if (!kept.empty()) {
    if (Result<> saved = write_file(kept, answer->body); !saved) return no_answer(std::move(saved).error());
  }
  return std::move(answer->body);
}

Answered<std::vector<RangeRow>> PrometheusClient::ask_series(const std::string& path, const http::Form& form) {
  RIGHTSIZE_TRY(const std::string body, ask(path, form));
  std::unique_ptr<telemetry::ByteSource> source = telemetry::bytes_of(body);
  RowSink sink;
  Result<FeedReport> report = telemetry::read_prometheus_json(*source, http::shown_url(base_), sink);
  if (!report) {
    report.error().code = ErrorCode::kUnreadableSource;
    return tl::make_unexpected(QueryError{std::move(report).error(), false});
  }
  partial_ = partial_ || report->partial;
  for (const std::string& warning : report->warnings) {
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end() && warnings_.size() < 10) {
      warnings_.push_back(warning);
    }
  }
  return std::move(sink.rows);
}

Answered<std::vector<VectorRow>> PrometheusClient::instant(const std::string& query, TimePoint time) {
  RIGHTSIZE_TRY(
      std::vector<RangeRow> series,
      ask_series("/api/v1/query", {{"query", query}, {"time", fmt::format("{:.0f}", in_unix_seconds(time))}}));
  std::vector<VectorRow> rows;
  for (RangeRow& row : series) {
    if (!row.points.empty()) rows.push_back({std::move(row.labels), row.points.back().value});
  }
  return rows;
}

Answered<std::vector<RangeRow>> PrometheusClient::range(const std::string& query, TimePoint from, TimePoint until,
                                                        Seconds step) {
  return ask_series("/api/v1/query_range", {{"query", query},
                                            {"start", fmt::format("{:.0f}", in_unix_seconds(from))},
                                            {"end", fmt::format("{:.0f}", in_unix_seconds(until))},
                                            {"step", fmt::format("{:.0f}", in_seconds(step))}});
}

Result<std::vector<std::string>> PrometheusClient::list(const std::string& path, const http::Form& form) {
  // Label endpoints take GET everywhere; POST only on some.
  Result<http::Answer> answer = client_.get(base_ + path, form);
  if (!answer) return fail(std::move(answer).error());
  if (answer->status != 200) return fail(refused(answer->status, base_ + path, answer->body));
  std::unique_ptr<telemetry::ByteSource> source = telemetry::bytes_of(answer->body);
  JsonStream json(*source, http::shown_url(base_));
  std::vector<std::string> items;
  std::string name, text;
  for (json.enter_object(); json.next_member(name);) {
    if (name == "data" && json.peek() == '[') {
      for (json.enter_array(); json.next_item();) {
        if (json.read_string(text)) items.push_back(text);
      }
    } else {
      json.skip();
    }
  }
  if (json.failed()) {
    return fail(unreadable(json.error().message).with_hint("is this the address of a Prometheus-compatible server?"));
  }
  return items;
}

// A scalar answer is [time, "value"]; the time is the server's.
Result<TimePoint> PrometheusClient::clock() {
  Result<http::Answer> answer = client_.get(base_ + "/api/v1/query", {{"query", "time()"}});
  if (!answer) return fail(std::move(answer).error());
  if (answer->status != 200) return fail(refused(answer->status, base_, answer->body));
  std::unique_ptr<telemetry::ByteSource> source = telemetry::bytes_of(answer->body);
  JsonStream json(*source, http::shown_url(base_));
  std::string name, inner;
  double value = 0;
  for (json.enter_object(); json.next_member(name);) {
    if (name != "data" || json.peek() != '{') {
      json.skip();
      continue;
    }
    for (json.enter_object(); json.next_member(inner);) {
      if (inner != "result" || json.peek() != '[') {
        json.skip();
        continue;
      }
      // VictoriaMetrics gives a vector of one series, Prometheus the pair itself.
      std::string text;
      for (json.enter_array(); json.next_item();) {
        if (json.peek() != '{') {
          value = json.read_number().value_or(0);
          continue;
        }
        for (json.enter_object(); json.next_member(text);) {
          if (text == "value" && json.peek() == '[') {
            if (telemetry::Point pair; json.read_pair(pair)) value = pair.value;
          } else {
            json.skip();
          }
        }
      }
    }
  }
  if (json.failed() || value <= 0) return fail(unreadable("the server does not tell its time"));
  return unix_seconds(value);
}

Result<std::string> find_api(http::Client& client, const std::string& url) {
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  if (base.ends_with("/api/v1")) base.resize(base.size() - 7);
  if (!base.starts_with("http://") && !base.starts_with("https://")) {
    return fail(bad_input(fmt::format("'{}' is no address", http::shown_url(url)))
                    .with_hint("for example http://prometheus.monitoring:9090"));
  }
  std::optional<Error> first;
  for (const char* prefix : {"", "/prometheus", "/select/0/prometheus", "/api/prom"}) {
    const std::string candidate = base + prefix;
    Result<http::Answer> answer = client.get(candidate + "/api/v1/query", {{"query", "time()"}});
    if (!answer) return fail(std::move(answer).error());
    if (answer->status == 200 && answer->body.find("\"success\"") != std::string::npos) return candidate;
    if (!first) first = refused(answer->status, candidate + "/api/v1/query", answer->body);
    if (answer->status == 401 || answer->status == 403 || answer->status >= 429) break;
  }
  return fail(std::move(*first));
}

}  // namespace rightsize::fleet
