// The routes of the server: commands, jobs, live GPUs, the page, health and metrics.
#pragma once

#include <string>
#include <vector>

#include "http_server/server.h"
#include "rightsize/page/jobs.h"
#include "rightsize/page/live.h"
#include "rightsize/page/response_cache.h"
#include "rightsize/page/run_command.h"
#include "rightsize/page/uploads.h"

namespace rightsize::app {

// The fleet and the decisions that the server shows unless a request includes its own fleet.
struct FleetSource {
  std::vector<std::string> arguments;  // of `fleet`: "--from=cluster.json"
  std::string ledger;                  // empty: the default one
  std::string shown;                   // "cluster.json", "the example fleet"
  bool is_example = false;
  bool is_server = false;            // Prometheus
  std::string window = {};           // default window of the metrics server
  std::string service_example = {};  // metrics of services to show if there is no server
};

class PageApi {
 public:
  PageApi(FleetSource fleet, LiveGpus& live, ScratchFolder& scratch);

  std::vector<http_server::Route> routes();
  // /metrics shows these. Call it before the first request.
  void show_statistics_of(http_server::ServerStatistics& statistics) { statistics_ = &statistics; }
  bool stop_jobs_within(std::chrono::milliseconds limit) { return jobs_.stop_within(limit); }

 private:
  std::vector<std::string> extra_arguments(const ApiRequest& request) const;
  http_server::Response run(const ApiRequest& request);
  bool has_ledger() const;
  http_server::Lane lane_of(const Endpoint& endpoint) const;
  http_server::Response respond(const ApiRequest& request, const Cancellation& work);
  http_server::Response run_job(const ApiRequest& request);
  void add_command_routes(std::vector<http_server::Route>& routes);
  void add_job_routes(std::vector<http_server::Route>& routes);
  void add_own_routes(std::vector<http_server::Route>& routes);
  http_server::Response about() const;
  http_server::Response metrics() const;

  const FleetSource fleet_;
  LiveGpus& live_;
  ScratchFolder& scratch_;
  Uploads uploads_;
  ResponseCache cache_;
  JobQueue jobs_;
  http_server::ServerStatistics* statistics_ = nullptr;
};

}  // namespace rightsize::app
