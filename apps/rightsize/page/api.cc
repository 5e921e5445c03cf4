#include "rightsize/page/api.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/cancel.h"
#include "decisions/ledger.h"
#include "rightsize/input/facts.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/page/site.h"

namespace rightsize::app {
namespace {

using http_server::Request;
using http_server::Response;
using http_server::Route;

constexpr std::size_t kCacheBytes = 64U << 20;
constexpr std::uint64_t kUploadBytes = 512U << 20;
// Longer computations run as jobs, which show their progress.
constexpr std::chrono::seconds kComputeTime{9};
// Metrics of the fleet may change while the server runs.
constexpr std::chrono::seconds kCacheTime{300};

// Pages of other sites cannot POST this content type without a CORS preflight, which the server refuses.
std::optional<Response> check_content_type(const Request& request) {
  if (request.method != "POST" || request.content_type.starts_with("application/json")) return std::nullopt;
  return http_server::error_response(415, "Content-Type: application/json expected");
}

Checked<ApiRequest> parse(const Endpoint& endpoint, const Request& request) {
  return parse_api_request(endpoint, request.query, request.body);
}

bool uses_ledger(const std::string& command) {
  return command == "decisions" || command == "verify" || command == "decide";
}

// Responses from before a change of prices, catalogue or calibration are not found again.
std::string cache_key(const ApiRequest& request) { return request.cache_key() + "\n" + facts_version(); }

std::string last_segment(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

PageApi::PageApi(FleetSource fleet, LiveGpus& live, ScratchFolder& scratch)
    : fleet_(std::move(fleet)),
      live_(live),
      scratch_(scratch),
      uploads_(scratch.path(), kUploadBytes),
      cache_(kCacheBytes, kCacheTime) {}

std::vector<std::string> PageApi::extra_arguments(const ApiRequest& request) const {
  const std::string& name = request.endpoint->name;
  if (uses_ledger(name)) {
    std::vector<std::string> all;
    if (!fleet_.ledger.empty()) all.push_back("--ledger=" + fleet_.ledger);
    if (name == "verify") all.emplace_back("--dry-run");
    return all;
  }
  const bool fleet = name == "fleet" && !request.documents.contains("telemetry");
  const bool service = name == "service" && !request.documents.contains("metrics");
  if (service && !fleet_.is_server) return {"--from=" + fleet_.service_example};
  std::vector<std::string> all = fleet || service ? fleet_.arguments : std::vector<std::string>{};
  if (!all.empty() && !fleet_.window.empty() && !request.flags.contains("window"))
    all.push_back("--window=" + fleet_.window);
  return all;
}

bool PageApi::has_ledger() const {
  const std::string ledger = decisions::Ledger::url(fleet_.ledger);
  std::error_code ignored;
  return store::is_server(ledger) || std::filesystem::exists(ledger, ignored);
}

Response PageApi::run(const ApiRequest& request) {
  if (uses_ledger(request.endpoint->name) && !request.endpoint->changes && !has_ledger())
    return http_server::error_response(404, "no decision is recorded yet");
  return run_command(request, {scratch_,
                               &uploads_,
                               extra_arguments(request),
                               {{decisions::Ledger::url(fleet_.ledger), "the ledger"},
                                {fleet_.service_example, "the example service"}}});
}

// A metrics server that does not respond must not hold up other requests.
http_server::Lane PageApi::lane_of(const Endpoint& endpoint) const {
  const bool external = ((endpoint.name == "fleet" || endpoint.name == "service") && fleet_.is_server) ||
                        (uses_ledger(endpoint.name) && store::is_server(decisions::Ledger::url(fleet_.ledger)));
  return external ? http_server::Lane::kExternal : endpoint.lane;
}

Response PageApi::respond(const ApiRequest& request, const Cancellation& work) {
  const CancelScope scope(work);
  if (!request.endpoint->cached) return run(request);
  return cache_.find_or_compute(cache_key(request), [&] { return run(request); });
}

// A job has no time limit, so it does not share the computation of a request, which has one.
Response PageApi::run_job(const ApiRequest& request) {
  if (!request.endpoint->cached) return run(request);
  const std::string key = cache_key(request);
  if (auto kept = cache_.find(key)) return *kept;
  Response response = run(request);
  if (!cancelled()) cache_.keep(key, response);
  return response;
}

void PageApi::add_command_routes(std::vector<Route>& routes) {
  for (const Endpoint& endpoint : endpoints()) {
    for (const char* method : {"GET", "POST"}) {
      if (endpoint.changes && method == std::string_view("GET")) continue;
      Route route{method, "/api/" + endpoint.name};
      route.lane = lane_of(endpoint);
      // Metrics can be large files, and other servers slow.
      if (endpoint.name != "fleet" && endpoint.name != "service" && route.lane != http_server::Lane::kExternal)
        route.compute_time = kComputeTime;
      route.immediate = [this, &endpoint](const Request& request) -> std::optional<Response> {
        if (auto refused = check_content_type(request)) return refused;
        const Checked<ApiRequest> parsed = parse(endpoint, request);
        return parsed ? cache_.find(cache_key(*parsed)) : describe_errors(parsed.error());
      };
      route.work = [this, &endpoint](const Request& request) {
        const Checked<ApiRequest> parsed = parse(endpoint, request);
        return parsed ? respond(*parsed, request.work) : describe_errors(parsed.error());
      };
      routes.push_back(std::move(route));
    }
  }
}

void PageApi::add_job_routes(std::vector<Route>& routes) {
  Route start{"POST", "/api/jobs/*"};
  start.immediate = [this](const Request& request) -> std::optional<Response> {
    if (auto refused = check_content_type(request)) return refused;
    const Endpoint* endpoint = find_endpoint(last_segment(request.path));
    if (endpoint == nullptr) return http_server::error_response(404, "no such command");
    const Checked<ApiRequest> parsed = parse(*endpoint, request);
    if (!parsed) return describe_errors(parsed.error());
    return jobs_.start(endpoint->name, [this, parsed = *parsed] { return run_job(parsed); });
  };
  routes.push_back(std::move(start));

  Route show{"GET", "/api/job/*"}, cancel{"DELETE", "/api/job/*"}, events{"GET", "/api/job-events/*"};
  show.immediate = [this](const Request& request) { return jobs_.show(last_segment(request.path)); };
  cancel.immediate = [this](const Request& request) { return jobs_.cancel(last_segment(request.path)); };
  events.immediate = [this](const Request& request) -> std::optional<Response> {
    if (jobs_.exists(last_segment(request.path))) return std::nullopt;
    return http_server::error_response(404, "no such job, or its result has expired");
  };
  events.stream = [this](const Request& request, std::shared_ptr<http_server::EventStream> stream) {
    jobs_.watch(last_segment(request.path), std::move(stream));
  };
  for (Route* route : {&show, &cancel, &events}) routes.push_back(std::move(*route));
}

Response PageApi::about() const {
  const Json document = {
      {"version", RIGHTSIZE_VERSION},
      {"ledger", has_ledger()},
      {"replay", live_.is_replay()},
      {"fleet", {{"source", fleet_.shown}, {"example", fleet_.is_example}, {"server", fleet_.is_server}}}};
  return http_server::json_response(200, document);
}

Response PageApi::metrics() const {
  if (statistics_ == nullptr) return http_server::error_response(503, "the server is starting");
  statistics_->set("rightsize_server_kept_answers", "responses in the cache", static_cast<double>(cache_.size()));
  statistics_->set("rightsize_server_kept_answer_bytes", "size of the cache", static_cast<double>(cache_.bytes()));
  return http_server::text_response(200, statistics_->metrics(), "text/plain; version=0.0.4; charset=utf-8");
}

void PageApi::add_own_routes(std::vector<Route>& routes) {
  const auto add = [&](const char* path, bool open, std::function<std::optional<Response>(const Request&)> immediate) {
    Route route{"GET", path, open};
    route.immediate = std::move(immediate);
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
  Route upload{"POST", "/api/uploads"};
  upload.work = [this](const Request& request) { return uploads_.append(request); };
  routes.push_back(std::move(upload));
  add("/*", true, find_page);
  Route live{"GET", "/api/live"};
  live.stream = [this](const Request&, std::shared_ptr<http_server::EventStream> stream) {
    live_.watch(std::move(stream));
  };
  routes.push_back(std::move(live));
}

std::vector<Route> PageApi::routes() {
  std::vector<Route> routes;
  add_command_routes(routes);
  add_job_routes(routes);
  add_own_routes(routes);
  return routes;
}

}  // namespace rightsize::app
