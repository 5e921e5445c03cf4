#include "gpu_use/prometheus_client.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace rightsize::gpu_use {
namespace {

using telemetry::FeedReport;

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

// The server's error message, or the first line if the answer is not JSON.
std::string words_of(const std::string& body) {
  std::unique_ptr<ByteSource> source = bytes_of(body);
  JsonReader json(*source, "answer");
  std::string text, message;
  json.each_member([&](const std::string& name) {
    if ((name != "error" && name != "message") || json.peek() != '"') return json.skip();
    if (json.read_string(text)) message = text;
  });
  if (message.empty()) message = std::string(trim(std::string_view(body).substr(0, body.find('\n'))));
  return message.substr(0, 300);
}

Error refused(int status, const std::string& url, const std::string& body) {
  Error error = unreadable(fmt::format("{} answered {}: {}", http::shown_url(url), status, words_of(body)));
  if (status == 401 || status == 403) {
    error.hints.emplace_back("credentials: --bearer-file, --user with --password-file, --cert and --key, --org-id");
  } else if (status == 404) {
    error.hints.emplace_back(
        "give the part of the address before /api/v1: http://HOST:9090, http://VMSELECT:8481/select/0/prometheus, "
        "https://MIMIR/prometheus");
  }
  return error;
}

tl::unexpected<QueryError> no_answer(Error error, bool too_much = false) {
  return tl::make_unexpected(QueryError{std::move(error), too_much});
}

}  // namespace

bool means_too_much(int status) {
  // Prometheus answers 422 to a query that would load too many samples and 503 after a timeout, VictoriaMetrics 422 for
  // all its limits, Mimir 422 and 413, proxies 504; 408 comes from our own client.
  return status == 408 || status == 413 || status == 422 || status == 503 || status == 504;
}

Answered<std::string> PrometheusClient::ask(const std::string& path, const http::Form& form) {
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
  return std::move(answer->body);
}

Answered<std::vector<RangeRow>> PrometheusClient::ask_series(const std::string& path, const http::Form& form) {
  std::string file;
  if (!kept_.folder.empty()) {
    std::string question = fmt::format("{}\n{}\n{}", base_, kept_.tenant, path);
    for (const auto& [name, value] : form) question += fmt::format("\n{}={}", name, value);
    file = fmt::format("{}/{:016x}.json", kept_.folder, hash_of(question));
  }
  std::string body;
  const bool known = !file.empty() && std::filesystem::exists(file);
  if (known) {
    Result<std::string> text = read_file(file, 512U << 20);
    if (!text) return no_answer(std::move(text).error());
    body = *std::move(text);
  } else {
    RIGHTSIZE_TRY(body, ask(path, form));
  }
  std::unique_ptr<ByteSource> source = bytes_of(body);
  RowSink sink;
  Result<FeedReport> report =
      telemetry::read_store_json(telemetry::JsonFeed::kPrometheus, *source, http::shown_url(base_), sink);
  if (!report) {
    report.error().code = ErrorCode::kUnreadableSource;
    return no_answer(std::move(report).error());
  }
  if (!file.empty() && !known && !report->partial && !sink.rows.empty()) {
    if (Result<> saved = write_file(file, body); !saved) return no_answer(std::move(saved).error());
  }
  partial_ = partial_ || report->partial;
  for (const std::string& warning : report->warnings) {
    if (std::ranges::find(warnings_, warning) == warnings_.end() && warnings_.size() < 10) {
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
  std::unique_ptr<ByteSource> source = bytes_of(answer->body);
  JsonReader json(*source, http::shown_url(base_));
  std::vector<std::string> items;
  std::string name, text;
  for (json.enter_object(); json.next_member(name);) {
    if (name != "data") {
      json.skip();
      continue;
    }
    json.each_item([&] {
      if (json.read_string(text)) items.push_back(text);
    });
  }
  if (json.failed()) {
    return fail(unreadable(json.error().message).with_hint("is this the address of a Prometheus-compatible server?"));
  }
  return items;
}

Result<TimePoint> PrometheusClient::clock() {
  Answered<std::vector<RangeRow>> rows = ask_series("/api/v1/query", {{"query", "vector(time())"}});
  if (!rows) return fail(std::move(rows).error().error);
  const bool known = !rows->empty() && !rows->front().points.empty() && rows->front().points.back().value > 0;
  if (!known) return fail(unreadable("the server did not report its time"));
  return unix_seconds(rows->front().points.back().value);
}

Result<std::string> find_api(http::Client& client, const std::string& url) {
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  if (base.ends_with("/api/v1")) base.resize(base.size() - 7);
  if (!base.starts_with("http://") && !base.starts_with("https://")) {
    return fail(bad_input(fmt::format("'{}' is not a URL", http::shown_url(url)))
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

}  // namespace rightsize::gpu_use
