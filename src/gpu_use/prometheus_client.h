// A client of one Prometheus-compatible server. Its errors include the server's message.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"
#include "http/http.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::gpu_use {

struct QueryError {
  Error error;
  // The query was too large for the server (status 408, 413, 422, 503 or 504): a smaller one may succeed.
  bool too_much = false;
};
template <class T = void>
using Answered = tl::expected<T, QueryError>;

// RIGHTSIZE_CHECK(expression): return the error of a Result or Answered without a value, if there is one.
#define RIGHTSIZE_CHECK(...) \
  if (auto checked = (__VA_ARGS__); !checked) return ::tl::make_unexpected(std::move(checked).error())

// One number per series.
struct VectorRow {
  telemetry::Labels labels;
  double value = 0;
};

// One series over time.
struct RangeRow {
  telemetry::Labels labels;
  std::vector<telemetry::Point> points;
};

// A cache of answers, which lets a later run continue. Empty and partial answers are not kept.
struct KeptAnswers {
  std::string folder = {};  // empty: nothing is kept
  std::string tenant = {};  // answers to other tenants of the server differ
};

class PrometheusClient {
 public:
  // "/api/v1/..." is appended to `base`.
  PrometheusClient(http::Client client, std::string base, KeptAnswers kept = {})
      : client_(std::move(client)), base_(std::move(base)), kept_(std::move(kept)) {}

  // The value of every series at one time; values that are not numbers are left out.
  Answered<std::vector<VectorRow>> instant(const std::string& query, TimePoint time);
  // The values at `from`, `from + step`, ... up to `until`.
  Answered<std::vector<RangeRow>> range(const std::string& query, TimePoint from, TimePoint until, Seconds step);
  // The strings of a label or metadata endpoint.
  Result<std::vector<std::string>> list(const std::string& path, const http::Form& form);
  // Now, by the server's clock.
  Result<TimePoint> clock();

  // Whether the server reported that its answers are incomplete, and its warning.
  bool partial() const { return partial_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Answered<std::string> ask(const std::string& path, const http::Form& form);
  Answered<std::vector<RangeRow>> ask_series(const std::string& path, const http::Form& form);

  http::Client client_;
  std::string base_;
  KeptAnswers kept_;
  bool partial_ = false;
  bool post_refused_ = false;
  std::vector<std::string> warnings_;
};

// The base of the API for the address a user gave: the address itself, or followed by the path of Mimir,
// VictoriaMetrics's cluster or Grafana Cloud.
Result<std::string> find_api(http::Client& client, const std::string& url);

// Whether a status means that the question was too large, not wrong.
bool means_too_much(int status);

}  // namespace rightsize::gpu_use
