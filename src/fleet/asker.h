// Questions to one Prometheus-compatible server: finds where its API is, keeps answers for a later run, and says what
// went wrong in the server's own words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/http.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::fleet {

// One number per series.
struct VectorRow {
  telemetry::Labels labels;
  double value = 0;
};

class Asker {
 public:
  // `base` is what "/api/v1/..." is appended to. `keep` is a folder for answers, or empty.
  Asker(http::Client client, std::string base, std::string keep)
      : client_(std::move(client)), base_(std::move(base)), keep_(std::move(keep)) {}

  Result<std::vector<VectorRow>> vector(const std::string& query, double time);
  // Series over time go to the sink; the report tells whether the server called its answer partial.
  Result<telemetry::FeedReport> range(const std::string& query, double from, double until, double step,
                                      telemetry::SeriesSink& sink);
  Result<telemetry::FeedReport> instant(const std::string& query, double time, telemetry::SeriesSink& sink);
  // The strings of a label or metadata endpoint.
  Result<std::vector<std::string>> list(const std::string& path, const http::Form& form);
  // Seconds since 1970 by the server's clock.
  Result<double> clock();

  // The server said its answers are incomplete, with its words.
  bool partial() const { return partial_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Result<std::string> ask(const std::string& path, const http::Form& form);
  Result<telemetry::FeedReport> ask_series(const std::string& path, const http::Form& form,
                                           telemetry::SeriesSink& sink);

  http::Client client_;
  std::string base_, keep_;
  bool partial_ = false;
  bool post_refused_ = false;
  std::vector<std::string> warnings_;
};

// The base of the API behind the address a user gave: as it stands, or with the path Mimir, VictoriaMetrics's cluster
// or Grafana Cloud put before it.
Result<std::string> find_api(http::Client& client, const std::string& url);

// Whether an error means "too much at once": then a smaller question may be answered.
bool is_too_much(const Error& error);

}  // namespace rightsize::fleet
