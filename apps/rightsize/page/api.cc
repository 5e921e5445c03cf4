#include "rightsize/page/api.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/cancel.h"
#include "decisions/ledger.h"
#include "http_server/compress.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/page/openapi.h"
#include "rightsize/page/site.h"

namespace rightsize::app {
namespace {

using http_server::Request;
using http_server::Response;
using http_server::Route;

constexpr std::size_t kMostKept = 64U << 20;
// Prices and the user's own facts may change under a running server.
constexpr std::chrono::seconds kKeptFor{300};

// A POST must say that it is JSON: pages of other sites cannot send that without asking first.
std::optional<Response> refuse_body(const Request& request) {
  if (request.method != "POST" || request.content_type.starts_with("application/json")) return std::nullopt;
  return http_server::error_response(415, "Content-Type: application/json expected");
}

Checked<Asked> read(const Endpoint& endpoint, const Request& request) {
  return read_asked(endpoint, request.query, request.body);
}

std::string last_segment(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Api::Api(FleetSource fleet, LiveGpus& live, Scratch& scratch)
    : fleet_(std::move(fleet)), live_(live), scratch_(scratch), answers_(kMostKept, kKeptFor) {}

std::vector<std::string> Api::always(const Asked& asked) const {
  if (asked.endpoint->name == "decisions" && !fleet_.ledger.empty()) return {"--ledger=" + fleet_.ledger};
  const bool own_fleet = asked.endpoint->name == "fleet" && !asked.documents.contains("telemetry");
  return own_fleet ? fleet_.words : std::vector<std::string>{};
}

Response Api::make(const Asked& asked, const Cancellation& work) {
  const CancelScope scope(work);
  if (!asked.endpoint->kept) return answer(asked, always(asked), scratch_);
  return answers_.find_or_make(asked.key(), [&] { return answer(asked, always(asked), scratch_); });
}

void Api::add_command_routes(std::vector<Route>& routes) {
  for (const Endpoint& endpoint : endpoints()) {
    for (const char* method : {"GET", "POST"}) {
      Route route{method, "/api/" + endpoint.name};
      // What was asked before is answered without waking anybody.
      route.at_once = [this, &endpoint](const Request& request) -> std::optional<Response> {
        if (auto refused = refuse_body(request)) return refused;
        const Checked<Asked> asked = read(endpoint, request);
        return asked ? answers_.find(asked->key()) : describe_errors(asked.error());
      };
      route.work = [this, &endpoint](const Request& request) {
        const Checked<Asked> asked = read(endpoint, request);
        return asked ? make(*asked, request.work) : describe_errors(asked.error());
      };
      routes.push_back(std::move(route));
    }
  }
}

void Api::add_job_routes(std::vector<Route>& routes) {
  Route start{"POST", "/api/jobs/*"};
  start.at_once = [this](const Request& request) -> std::optional<Response> {
    if (auto refused = refuse_body(request)) return refused;
    const Endpoint* endpoint = find_endpoint(last_segment(request.path));
    if (endpoint == nullptr) return http_server::error_response(404, "no such command");
    const Checked<Asked> asked = read(*endpoint, request);
    if (!asked) return describe_errors(asked.error());
    return jobs_.start(endpoint->name, [this, asked = *asked] { return answer(asked, always(asked), scratch_); });
  };
  routes.push_back(std::move(start));

  Route show{"GET", "/api/job/*"}, cancel{"DELETE", "/api/job/*"}, events{"GET", "/api/job-events/*"};
  show.at_once = [this](const Request& request) { return jobs_.show(last_segment(request.path)); };
  cancel.at_once = [this](const Request& request) { return jobs_.cancel(last_segment(request.path)); };
  events.at_once = [this](const Request& request) -> std::optional<Response> {
    if (jobs_.exists(last_segment(request.path))) return std::nullopt;
    return http_server::error_response(404, "no such search, or it is over for long");
  };
  events.stream = [this](const Request& request, std::shared_ptr<http_server::EventStream> stream) {
    jobs_.watch(last_segment(request.path), std::move(stream));
  };
  for (Route* route : {&show, &cancel, &events}) routes.push_back(std::move(*route));
}

Response Api::about() const {
  const std::string ledger = decisions::Ledger::url(fleet_.ledger);
  std::error_code ignored;
  const Json document = {{"version", RIGHTSIZE_VERSION},
                         {"ledger", store::is_server(ledger) || std::filesystem::exists(ledger, ignored)},
                         {"fleet", {{"source", fleet_.shown}, {"example", fleet_.is_example}}}};
  return http_server::text_response(200, document.dump() + "\n", "application/json; charset=utf-8");
}

Response Api::metrics() const {
  if (statistics_ == nullptr) return http_server::error_response(503, "not yet");
  statistics_->set("rightsize_server_kept_answers", "answers kept", static_cast<double>(answers_.size()));
  statistics_->set("rightsize_server_kept_answer_bytes", "size of the answers kept",
                   static_cast<double>(answers_.bytes()));
  return http_server::text_response(200, statistics_->metrics(), "text/plain; version=0.0.4; charset=utf-8");
}

void Api::add_own_routes(std::vector<Route>& routes) {
  const auto add = [&](const char* path, bool open, std::function<std::optional<Response>(const Request&)> at_once) {
    Route route{"GET", path, open};
    route.at_once = std::move(at_once);
    routes.push_back(std::move(route));
  };
  add("/healthz", true, [](const Request&) { return http_server::text_response(200, "ok\n"); });
  add("/metrics", false, [this](const Request&) { return metrics(); });
  add("/api/server", false, [this](const Request&) { return about(); });
  Response openapi;
  openapi.body = std::make_shared<const std::string>(openapi_document().dump() + "\n");
  http_server::compress(openapi);
  add("/api/openapi.json", true, [openapi](const Request&) { return openapi; });
  for (const std::string& name : document_names()) {
    const std::string path = fmt::format("/api/schemas/{}-1.json", name);
    add(path.c_str(), true, [name](const Request&) -> std::optional<Response> {
      const Result<std::string> text = schema_text(name);
      if (!text) return std::nullopt;
      return http_server::text_response(200, *text, "application/json; charset=utf-8");
    });
  }
  add("/*", true, find_page);
  Route live{"GET", "/api/live"};
  live.stream = [this](const Request&, std::shared_ptr<http_server::EventStream> stream) {
    live_.watch(std::move(stream));
  };
  routes.push_back(std::move(live));
}

std::vector<Route> Api::routes() {
  std::vector<Route> routes;
  add_command_routes(routes);
  add_job_routes(routes);
  add_own_routes(routes);
  return routes;
}

}  // namespace rightsize::app
