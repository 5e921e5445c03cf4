#include "rightsize/service/input.h"

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "plan/read_request.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

// "2", "1.5x", "x3".
Result<double> parse_factor(const char* flag, const std::string& text) {
  if (text.empty()) return 1.0;
  std::string_view number = trim(text);
  if (number.ends_with('x')) number.remove_suffix(1);
  if (number.starts_with('x')) number.remove_prefix(1);
  const Result<double> value = parse_number(number);
  if (!value || !(*value > 0.001 && *value < 1000))
    return fail(
        bad_input(fmt::format("{} '{}' must be a factor between 0.001 and 1000", flag, text)).with_hint("write 2x"));
  return *value;
}

Result<std::vector<capacity::Slo>> parse_limits(const ServiceFlags& flags, capacity::Statistic percentile) {
  if (flags.slo.empty()) return std::vector<capacity::Slo>{};
  RIGHTSIZE_TRY(std::vector<capacity::Slo> slos, capacity::parse_slos(flags.slo, percentile));
  for (const capacity::Slo& slo : slos) {
    if (slo.quantity == capacity::Quantity::kLatency)
      return fail(bad_input(fmt::format("--slo '{}' must limit ttft or tpot", flags.slo))
                      .with_hint("write ttft=0.5s,tpot=25ms"));
    if (slo.at != percentile)
      return fail(bad_input("all limits must have the same percentile").with_hint("set it with --slo-percentile"));
  }
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
  ServiceInput input;
  Errors errors;
  auto take = [&](auto value, auto& into) {
    if (value) {
      into = *std::move(value);
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  RIGHTSIZE_TRY(ServerRequest server, read_server_flags(flags));
  input.from = flags.from;
  input.server.url = flags.prometheus;
  input.server.auth = std::move(server.auth), input.server.policy = server.policy;
  input.server.window = server.window, input.server.end = server.end;
  input.server.matchers = flags.match;
  take(capacity::parse_percentile(flags.slo_percentile), input.size.percentile);
  if (errors.empty()) take(parse_limits(flags, input.size.percentile), input.size.slos);
  take(parse_factor("--traffic", flags.traffic), input.size.what_if.traffic);
  take(parse_factor("--longer-prompts", flags.longer_prompts), input.size.what_if.isl);
  take(parse_factor("--longer-answers", flags.longer_answers), input.size.what_if.osl);
  if (!flags.gpu.empty()) take(named_gpu(catalog, flags.gpu), input.known.gpu);
  if (flags.gpus_per_replica > 0) input.known.per_replica = flags.gpus_per_replica;
  for (const std::string& text : flags.models) input.models.push_back(parse_model(text));
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) input.size.settings.push_back({name, value, {}});
  };
  set("providers", joined(flags.providers));
  set("regions", joined(flags.regions));
  set("gpu", joined(flags.gpus));
  set("precision", joined(flags.precisions));
  set("purchase", flags.purchase);
  input.size.top = flags.top;
  input.other_model = flags.other_model;
  input.size.what_if.other_model = !flags.other_model.empty();
  input.only = flags.name;
  for (std::string_view target : split_list(flags.emit, ',')) input.emit.emplace_back(target);
  if (!errors.empty()) return fail(std::move(errors));
  // Mistakes in the settings for `recommend` are the user's, not those of a service.
  std::vector<model::Setting> settings{{"model", "llama-3.1-8b", {}}, {"job", "serve", {}}};
  settings.insert(settings.end(), input.size.settings.begin(), input.size.settings.end());
  if (Checked<plan::Request> request = plan::read_request(settings, catalog); !request)
    return fail(std::move(request).error());
  return input;
}

void declare(FlagSet& command, ServiceFlags& f) {
  add_window_flags(command, f);
  command.add_option(
      "--from,files", f.from,
      "files instead: scrapes of /metrics in order of time, or Prometheus JSON exports; plain, gzip or zstd");
  command.add_option("--service", f.name, "only services whose name contains this");
  command.add_option("--slo", f.slo, "limits: ttft=0.5s,tpot=25ms");
  command.add_option("--slo-percentile", f.slo_percentile, "percentile of the limits: 50, 90, 95 or 99")
      ->default_str("95");
  add_price_flag(command, f.prices);
  command
      .add_option("--model", f.models,
                  "the model, if its served name is unknown: llama-3.1-8b, a config.json, or SERVICE=MODEL; repeat")
      ->one_value_each();
  command.add_option("--gpu", f.gpu, "the service's GPU, if the metrics do not name it");
  command.add_option("--gpus-per-replica", f.gpus_per_replica, "GPUs per replica, if the metrics do not show it");
  command.add_option("--to-gpu", f.gpus, "move to these GPUs only: l40s,h100-sxm")->delimiter(',');
  command.add_option("--precision", f.precisions, "precisions to consider: bf16,fp8; default: as today")
      ->delimiter(',');
  command.add_option("--provider,--providers", f.providers, "providers to consider: aws,gcp")->delimiter(',');
  command.add_option("--region,--regions", f.regions, "regions to consider: us-east-1, or us, eu, asia")
      ->delimiter(',');
  command.add_option("--purchase", f.purchase, "terms: on-demand, spot, 1y, 3y")->default_str("on-demand");
  command.add_option("--traffic", f.traffic, "plan for this many times the requests: 2x");
  command.add_option("--longer-prompts", f.longer_prompts, "plan for prompts this many times as long: 1.5x");
  command.add_option("--longer-answers", f.longer_answers, "plan for responses this many times as long: 1.5x");
  command.add_option("--other-model", f.other_model, "plan for this model instead");
  command.add_option("--top", f.top, "plans to show")->default_str("10")->range(1, 100);
  command.add_option("--emit", f.emit,
                     "instead of the report, the best plan of the first service for: keda, hpa, deployment, "
                     "kubernetes, skypilot, ...");
  add_connection_flags(command, f);
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
