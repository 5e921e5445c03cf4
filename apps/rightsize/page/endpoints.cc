#include "rightsize/page/endpoints.h"

#include <algorithm>

#include "base/text.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

constexpr SentDocument kConfig = {"model_config", "--model", "config.json",
                                  "a Hugging Face config.json as text, instead of a built-in model"};

constexpr auto kLight = http_server::Lane::kLight;

// Flags for the source of metrics and the connection to it.
std::vector<std::string> metrics_source(std::vector<std::string> more) {
  more.insert(more.end(),
              {"from",   "prometheus", "match",         "end",      "shard", "parallel",    "resume", "timeout",
               "tries",  "http-user",  "password-file", "cert",     "key",   "ca",          "header", "retry-wait",
               "org-id", "insecure",   "jobs",          "progress", "bill",  "bearer-file", "files"});
  return more;
}

std::vector<Endpoint> table() {
  return {
      {"recommend",
       "The cheapest GPUs for a workload: how many, which provider, terms and settings",
       {"workload", "profile", "trace", "rate-profile"},
       {kConfig},
       http_server::Lane::kHeavy,
       {"recommend", "recommend-rl"}},
      {"estimate", "How fast a job runs on a GPU, its bottleneck, and the confidence interval", {}, {kConfig}, kLight},
      {"memory", "The GPU memory of a job, part by part; whether it fits, and how to reduce it", {}, {kConfig}, kLight},
      {"batch", "Latency of a batching server, and the cheapest setting that meets its SLOs", {"service"}, {kConfig}},
      {"autoscale",
       "What scaling policies cost under a traffic profile, and how many requests miss their SLO",
       {"emit", "prometheus", "match", "end", "window", "service", "timeout", "tries", "retry-wait", "http-user",
        "cert", "key", "ca", "insecure", "org-id", "header", "progress"},
       {kConfig, {"rate_profile", "--rate-profile", "rates.csv", "requests per second by hour, as CSV"}}},
      {"cache",
       "The hit rate of a KV cache by its size, for traffic that repeats itself",
       {},
       {kConfig, {"trace", "", "trace.jsonl", "requests with hash_ids, one JSON object per line (Mooncake's format)"}}},
      {"mig",
       "Many small models on few GPUs: slices, layouts and the saving from sharing",
       {"workloads", "out", "current", "verify", "repack", "make-room"},
       {{"workloads", "", "workloads.yaml", "the workloads to place, as the YAML of examples/mig"}}},
      {"models", "Model shapes: parameters, layers, heads", {}, {kConfig}, kLight},
      {"gpus", "The GPUs of the catalogue: memory, bandwidth, speed per number format", {}, {}, kLight},
      {"prices",
       "What machines cost, how old each price is; compare, spot, history, diff",
       {"feed", "date", "dry-run", "write-to", "url", "before"},
       {},
       kLight,
       {"prices", "prices-compare", "prices-spot", "prices-history"}},
      {"decisions",
       "Recorded decisions: list, show, savings to date",
       {"cheaper", "price-change", "drift", "webhook", "webhook-format", "ledger", "wait"},
       {},
       kLight,
       {"decisions", "savings"},
       false},
      {"window", "Deferrable work: GPUs, schedule and cost in time windows, compared with real time", {"service"}, {}},
      {"commit",
       "How much capacity to commit to, for how long, and at what risk",
       {"usage"},
       {{"usage", "--usage", "usage.csv", "GPUs in use over time: CSV with a column gpus, or gpu_hours by hour"}}},
      {"fleet",
       "What a fleet's GPUs cost, how much is wasted and by which team, and the actions that save most",
       metrics_source({}),
       {{"telemetry", "--from", "telemetry",
         "GPU metrics to use instead of the server's fleet, in any format that --from reads"}}},
      {"service",
       "Running LLM services from their own metrics: traffic, latency, cost, and what would cost less",
       metrics_source({}),
       {{"metrics", "--from", "metrics", "metrics of the engines, in any format that --from reads"}}},
      {"portfolio",
       "All workloads of an organisation in one plan: what runs where, and what one more GPU is worth",
       {"organisation"},
       {{"organisation", "", "organisation.yaml",
         "pools, reservations and workloads, as the YAML of docs/portfolio.md"}}},
      {"verify",
       "A decision's predictions against the measurements in the ledger",
       metrics_source(
           {"calibrate", "dry-run", "ledger", "wait", "measured", "oom", "profile", "query", "step", "window"}),
       {},
       kLight,
       {},
       false},
      {"decide",
       "Record a plan as a decision in the server's ledger",
       {"from", "ledger", "wait"},
       {{"document", "--from", "plan.json", "the document that has the plan, as its command returned it"}},
       kLight,
       {},
       false,
       true},
  };
}

bool is_withheld(const Endpoint& endpoint, const std::string& name, const FlagInfo& flag) {
  static const std::vector<std::string> kNever = {"catalog", "store", "format", "wide", "quiet", "help"};
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // --model takes "NAME|FILE": paths are refused where files are read (base/confine.h).
  return holds(kNever) || holds(endpoint.withheld) ||
         (flag.values.find("FILE") != std::string::npos && name != "model");
}

std::vector<Endpoint> with_flags(std::vector<Endpoint> all) {
  for (Endpoint& endpoint : all) {
    if (endpoint.answers.empty()) endpoint.answers = {endpoint.name};
    CommandInfo info = *describe_command(endpoint.name);  // the table names commands that exist
    for (FlagInfo& flag : info.flags) {
      std::string name = flag.name.starts_with("--") ? flag.name.substr(2) : to_lower(flag.name);
      if (!is_withheld(endpoint, name, flag)) endpoint.flags.emplace(std::move(name), std::move(flag));
    }
  }
  return all;
}

}  // namespace

const std::vector<Endpoint>& endpoints() {
  static const std::vector<Endpoint> kAll = with_flags(table());
  return kAll;
}

const Endpoint* find_endpoint(std::string_view name) {
  const auto found = std::find_if(endpoints().begin(), endpoints().end(),
                                  [&](const Endpoint& endpoint) { return endpoint.name == name; });
  return found == endpoints().end() ? nullptr : &*found;
}

}  // namespace rightsize::app
