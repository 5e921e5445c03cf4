#include "rightsize/service/input.h"

#include <fmt/format.h>

#include "plan/read_request.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

// A percentile that all limits name (ttft-p99=500ms) replaces `percentile`.
Result<std::vector<capacity::Slo>> parse_limits(const ServiceFlags& flags, capacity::Statistic& percentile) {
  if (flags.slo.empty()) return std::vector<capacity::Slo>{};
  RIGHTSIZE_TRY(std::vector<capacity::Slo> slos, capacity::parse_slos(flags.slo, percentile));
  for (const capacity::Slo& slo : slos) {
    if (slo.quantity == capacity::Quantity::kLatency)
      return fail(bad_input(fmt::format("--slo '{}' must limit ttft or tpot", flags.slo))
                      .with_hint("write ttft=0.5s,tpot=25ms"));
    if (slo.at != slos.front().at)
      return fail(bad_input("all limits must have the same percentile").with_hint("set it with --slo-percentile"));
  }
  percentile = slos.front().at;
  return slos;
}

NamedModel parse_model(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Checked<ServiceInput> read_input(const ServiceFlags& flags, const catalog::Catalog& catalog) {
  if (flags.from.empty() == flags.prometheus.empty()) {
    return fail((bad_input(flags.from.empty() ? "no source given" : "use either --from or --prometheus")
                     .with_hint("rightsize service --prometheus http://prometheus:9090 --slo ttft=0.5s,tpot=25ms")
                     .with_hint("rightsize service --from scrapes/*.txt")));
  }
  if (Result<> fine = check_server_flags(flags, {"--window", "--end"}); !fine) return fail(std::move(fine).error());
  ServiceInput input;
  RIGHTSIZE_TRY(ServerRequest server, read_server_flags(flags));
  input.from = flags.from;
  input.since = {flags.uptime, flags.rate, flags.step};
  RIGHTSIZE_TRY(input.electricity, read_electricity(flags.electricity));
  input.server.url = flags.prometheus;
  input.server.auth = std::move(server.auth), input.server.policy = server.policy;
  input.server.window = server.window, input.server.end = server.end;
  input.server.matchers = flags.match;
  RIGHTSIZE_TRY(input.size.percentile, capacity::parse_percentile(flags.slo_percentile));
  RIGHTSIZE_TRY(input.size.slos, parse_limits(flags, input.size.percentile));
  input.size.what_if = {flags.traffic, flags.longer_prompts, flags.longer_answers, !flags.other_model.empty()};
  if (!flags.gpu.empty()) {
    std::string gpu = flags.gpu;  // 4xH100: four per replica
    input.known.per_replica = take_replica_gpus(gpu);
    RIGHTSIZE_TRY(input.known.gpu, named_gpu(catalog, gpu));
  }
  if (flags.gpus_per_replica > 0) input.known.per_replica = flags.gpus_per_replica;
  for (const std::string& text : flags.models) input.models.push_back(parse_model(text));
  for (const auto& [name, values] : {std::pair{"providers", &flags.providers},
                                     {"regions", &flags.regions},
                                     {"gpu", &flags.gpus},
                                     {"precision", &flags.precisions},
                                     {"purchase", &flags.purchases}}) {
    if (!values->empty()) input.size.settings.push_back({name, fmt::format("{}", fmt::join(*values, ",")), {}});
  }
  input.size.top = flags.top, input.size.plans_only = flags.plans_only;
  input.other_model = flags.other_model;
  input.only = flags.name;
  input.emit = flags.emit;
  input.ledger = flags.ledger;
  // Mistakes in the settings for `recommend` are the user's, so they are reported once and not per service.
  std::vector<model::Setting> settings{{"model", "llama-3.1-8b", {}}, {"job", "serve", {}}};
  settings.insert(settings.end(), input.size.settings.begin(), input.size.settings.end());
  if (Checked<plan::Request> request = plan::read_request(settings, catalog); !request)
    return fail(std::move(request).error());
  return input;
}

void declare(FlagSet& command, ServiceFlags& f) {
  add_window_flags(command, f);
  command.add("from", f.from)
      ->meaning("files instead: scrapes of /metrics in order of time, or Prometheus JSON exports; plain, gzip or zstd")
      ->argument("files");
  command.add("uptime", f.uptime);
  command.add("rate", f.rate)->meaning("instead of --uptime: mean rate of requests since the start");
  command.add("step", f.step)->meaning("time between the scrapes in files")->or_words("from the times of the files");
  command.add("service", f.name);
  command.add("slo", f.slo)->meaning("limits: ttft=0.5s,tpot=25ms");
  command.add("slo-percentile", f.slo_percentile);
  add_price_flag(command, f.prices);
  command.add("model", f.models)
      ->meaning("the model, if its served name is unknown: llama-3.1-8b, a config.json, or SERVICE=MODEL; repeat")
      ->single_words();
  command.add("gpu", f.gpu)->meaning("the service's GPU, if the metrics do not name it");
  command.add("gpus-per-replica", f.gpus_per_replica);
  command.add("to-gpu", f.gpus);
  command.add("precision", f.precisions)->meaning("precisions to consider: bf16,fp8")->or_words("as today");
  command.add("provider", f.providers);
  command.add("region", f.regions);
  command.add("purchase", f.purchases);
  add_electricity_flags(command, f.electricity, "measured");
  command.add("traffic", f.traffic);
  command.add("longer-prompts", f.longer_prompts);
  command.add("longer-answers", f.longer_answers);
  command.add("other-model", f.other_model);
  command.add("top", f.top)->meaning("plans to show")->or_else("10");
  command.add("plans-only", f.plans_only)
      ->meaning("the cheapest plans in half the time, with less exact ranges of their cost");
  command.add("emit", f.emit)
      ->meaning(
          "instead of the report, the best plan of the first service for: keda, hpa, deployment, kubernetes, "
          "skypilot, ...; or all services for rightsize portfolio: portfolio");
  command.add("ledger", f.ledger.ledger)
      ->meaning("compare with what autoscale predicted, for services with a decision in this ledger")
      ->or_words("no comparison");
  add_connection_flags(command, f);
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
