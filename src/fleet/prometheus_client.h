// A client of one Prometheus-compatible server: finds where its API is, keeps answers for a later run, and says what
// went wrong in the server's own words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"
#include "http/http.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::fleet {

// Why a question was not answered.
struct QueryError {
  Error error;
  // The server would have to work or remember too much at once (by its status: 408, 413, 422, 503, 504): the same
  // question about less may be answered.
  bool too_much = false;
};
template <class T>
using Answered = tl::expected<T, QueryError>;

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

class PrometheusClient {
 public:
  // `base` is what "/api/v1/..." is appended to. `keep` is a folder for answers, or empty.
  PrometheusClient(http::Client client, std::string base, std::string keep)
      : client_(std::move(client)), base_(std::move(base)), keep_(std::move(keep)) {}

  // The value of every series at one time; those that are no number are left out.
  Answered<std::vector<VectorRow>> instant(const std::string& query, TimePoint time);
  // The values at `from`, `from + step`, ... up to `until`.
  Answered<std::vector<RangeRow>> range(const std::string& query, TimePoint from, TimePoint until, Seconds step);
  // The strings of a label or metadata endpoint.
  Result<std::vector<std::string>> list(const std::string& path, const http::Form& form);
  // Now, by the server's clock.
  Result<TimePoint> clock();

  // The server said its answers are incomplete, with its words.
  bool partial() const { return partial_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Answered<std::string> ask(const std::string& path, const http::Form& form);
  Answered<std::vector<RangeRow>> ask_series(const std::string& path, const http::Form& form);

  http::Client client_;
  std::string base_, keep_;
  bool partial_ = false;
  bool post_refused_ = false;
  std::vector<std::string> warnings_;
};

// The base of the API behind the address a user gave: as it stands, or with the path Mimir, VictoriaMetrics's cluster
// or Grafana Cloud put before it.
Result<std::string> find_api(http::Client& client, const std::string& url);

// Whether a status says that the question was too large, not wrong.
bool means_too_much(int status);

}  // namespace rightsize::fleet
