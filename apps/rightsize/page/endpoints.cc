#include "rightsize/page/endpoints.h"

#include <algorithm>

#include "base/text.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

constexpr Document kConfig = {"model_config", "--model", "config.json",
                              "a Hugging Face config.json as text, instead of a built-in model"};

std::vector<Endpoint> table() {
  return {
      {"recommend",
       "Which GPU, how many, from whom, on what terms, with which settings, for the least money",
       {"workload", "profile", "trace", "rate-profile"},
       {kConfig}},
      {"estimate", "How fast a job runs on a GPU, its bottleneck, and the confidence interval", {}, {kConfig}},
      {"memory", "GPU memory a job needs, part by part; whether it fits, and how to free some", {}, {kConfig}},
      {"batch", "Latency of a batching server, and the cheapest setting that keeps every SLO", {"service"}, {kConfig}},
      {"mig",
       "Many small models on few GPUs: slices, layouts and what sharing saves",
       {"workloads", "out", "current", "verify", "repack", "make-room"},
       {{"workloads", "", "workloads.yaml", "the workloads to place, as the YAML of examples/mig"}}},
      {"models", "Model shapes: parameters, layers, heads", {}, {kConfig}},
      {"gpus", "The GPUs of the catalogue: memory, bandwidth, speed per number format", {}, {}},
      {"prices",
       "What machines cost, how old each price is; compare, spot, history, diff",
       {"feed", "date", "dry-run", "write-to", "url", "before"},
       {},
       {"prices", "prices-compare", "prices-spot", "prices-history"}},
      {"decisions",
       "Decisions that were kept: list, show, savings to date",
       {"cheaper", "price-change", "drift", "webhook", "webhook-format", "ledger", "wait"},
       {},
       {"decisions", "savings"},
       false},
      {"window", "Work that can wait: GPUs, schedule and cost in windows, against real time", {"service"}, {}},
      {"commit",
       "How much capacity to commit to, for how long, and what that risks",
       {"usage"},
       {{"usage", "--usage", "usage.csv", "GPUs in use over time: CSV with a column gpus, or gpu_hours by hour"}}},
      {"fleet",
       "What a fleet's GPUs cost, how much of it is wasted, who wastes it, and what saves most",
       {"from",     "prometheus", "match",       "end",      "shard",         "parallel", "resume", "timeout",
        "tries",    "retry-wait", "bearer-file", "user",     "password-file", "cert",     "key",    "ca",
        "insecure", "org-id",     "header",      "progress", "jobs",          "window"},
       {{"telemetry", "--from", "telemetry", "readings of GPUs instead of the server's own fleet: what --from reads"}}},
  };
}

bool is_withheld(const Endpoint& endpoint, const std::string& name, const FlagInfo& flag) {
  static const std::vector<std::string> kNever = {"catalog", "store", "format", "wide", "quiet", "help"};
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // "NAME|FILE" of --model stays: a path is refused where it is read (base/confine.h).
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
