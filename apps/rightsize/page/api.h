// The routes of the server: the commands, searches, live GPUs, the page, health and metrics.
#pragma once

#include <string>
#include <vector>

#include "http_server/server.h"
#include "rightsize/page/answers.h"
#include "rightsize/page/jobs.h"
#include "rightsize/page/live.h"

namespace rightsize::app {

// What the server shows when a request brings none of its own.
struct FleetSource {
  std::vector<std::string> words;  // what `fleet` is given: "--from=cluster.json"
  std::string ledger;              // the decisions to show; empty: the usual ledger
  std::string shown;               // "cluster.json", "the example fleet"
  bool is_example = false;
};

class Api {
 public:
  Api(FleetSource fleet, LiveGpus& live, Scratch& scratch);

  std::vector<http_server::Route> routes();
  // Whose numbers /metrics shows; before the first request.
  void show_statistics_of(http_server::Statistics& statistics) { statistics_ = &statistics; }

 private:
  std::vector<std::string> always(const Asked& asked) const;
  http_server::Response make(const Asked& asked, const Cancellation& work);
  void add_command_routes(std::vector<http_server::Route>& routes);
  void add_job_routes(std::vector<http_server::Route>& routes);
  void add_own_routes(std::vector<http_server::Route>& routes);
  http_server::Response about() const;
  http_server::Response metrics() const;

  const FleetSource fleet_;
  LiveGpus& live_;
  Scratch& scratch_;
  AnswerStore answers_;
  Jobs jobs_;
  http_server::Statistics* statistics_ = nullptr;
};

}  // namespace rightsize::app
