// Fills in missing flags from the metrics of a running service or from a plan.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/format.h"
#include "decisions/read_plan.h"
#include "live_service/learn_speed.h"
#include "live_service/lengths.h"
#include "live_service/read_server.h"
#include "rightsize/autoscale/input.h"
#include "rightsize/decisions/fields.h"

namespace rightsize::app {
namespace {

using live_service::ServiceReading;
using live_service::Signal;

Checked<ServiceReading> the_service(const AutoscaleFlags& flags) {
  live_service::ServicesRead read;
  if (flags.server.prometheus.empty()) {
    RIGHTSIZE_TRY(read, live_service::read_service_files(flags.from));
  } else {
    RIGHTSIZE_TRY(ServerRequest request, read_server_flags(flags.server));
    live_service::ServerSource source{.url = flags.server.prometheus,
                                      .auth = std::move(request.auth),
                                      .policy = request.policy,
                                      .window = request.window,
                                      .end = request.end,
                                      .matchers = flags.server.match};
    RIGHTSIZE_TRY(read, live_service::read_services(source));
  }
  std::vector<std::string> names;
  ServiceReading* found = nullptr;
  for (ServiceReading& one : read.services) {
    if (one.name().find(flags.service) == std::string::npos) continue;
    names.push_back(one.name());
    found = &one;
  }
  if (names.size() == 1 && !found->timed)
    return fail(bad_input(fmt::format("{} has one scrape without process_start_time_seconds: no rates", names.front()))
                    .with_hint("add a second scrape of the same engine, at least an hour later"));
  if (names.size() == 1) return std::move(*found);
  if (names.empty()) return fail(bad_input(fmt::format("no service name contains '{}'", flags.service)));
  return fail(bad_input(fmt::format("the metrics have {} services: {}", names.size(), fmt::join(names, ", ")))
                  .with_hint("name one with --service"));
}

// Requests per second in each step, scaled to the mean rate because the sampling grid misses requests.
std::vector<double> rates_of(const ServiceReading& r, double mean_rate) {
  double shape = 0;
  for (double count : r.finished) shape += count;
  const double scale = shape > 0 ? std::clamp(mean_rate * r.seconds() / shape, 0.9, 1.1) : 1;
  std::vector<double> rates;
  for (double count : r.finished) rates.push_back(scale * count / r.step);
  return rates;
}

// Measured lengths. Prompts exclude the tokens found in the prefix cache.
sim::RequestShape lengths_of(const ServiceReading& r, const live_service::Description& d) {
  const capacity::UsualVariation& usual = capacity::usual_variation();
  const auto variation = [&](Signal signal, double mean, double otherwise) {
    const live_service::RequestLengths lengths(r.histogram(signal), mean, otherwise);
    constexpr double kHigh = 0.95;
    return sim::mean_of_spread(lengths.quantile(0.5), lengths.quantile(kHigh), kHigh).variation;
  };
  return {.size = std::max(1.0, *d.isl.mean * (1 - d.prefix_hit.value_or(0))),
          .output = std::max(1.0, *d.osl.mean),
          .size_variation = variation(Signal::kIsl, *d.isl.mean, usual.prompt),
          .output_variation = variation(Signal::kOsl, *d.osl.mean, usual.answer)};
}

void set(std::string& flag, std::string_view value) {
  if (flag.empty()) flag = value;
}

// The replica as it runs, at the speed that was measured.
Checked<void> describe_replica(const ServiceReading& r, const live_service::Description& d, const Facts& facts,
                               BatchFlags& engine) {
  set(engine.stack, model::name_of(live_service::stack_of(r.engine)));
  const Checked<live_service::ServedModel> served =
      live_service::find_served_model(engine.model.empty() ? r.model : engine.model);
  if (!served && engine.model.empty())
    return fail(bad_input(fmt::format("'{}' is not a known model", r.model)).with_hint("pass --model llama-3.1-8b"));
  if (engine.tp.empty() && (d.gpu != nullptr || !r.gpus.empty())) engine.tp = {d.gpus_per_replica};
  if (!served) return {};  // the engine serves the model under a name that we do not know
  set(engine.model, served->name);
  if (served->precision_named) set(engine.precision, model::name_of(served->precision));
  const bool elsewhere = d.gpu != nullptr && !engine.gpu.empty() && engine.gpu != d.gpu->name;
  if (d.gpu != nullptr) set(engine.gpu, d.gpu->name);
  if (elsewhere) return {};  // the measured speed is of another GPU
  if (const auto learned = live_service::learn_speed(r, d, *served, facts.constants))
    engine.constants = learned->constants;
  return {};
}

// The largest share of requests over any one limit.
std::optional<double> over_slo(const live_service::Description& d) {
  std::optional<double> most;
  for (const live_service::SloVerdict& slo : d.slos)
    if (slo.over) most = std::max(most.value_or(0), slo.over->value);
  return most;
}

}  // namespace

Checked<History> read_history(AutoscaleFlags& flags) {
  RIGHTSIZE_TRY(const ServiceReading reading, the_service(flags));
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.engine.catalog));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, flags.engine.price));
  std::vector<capacity::Slo> slos;
  if (!flags.slo.empty()) {
    RIGHTSIZE_TRY(slos, capacity::parse_slos(flags.slo, capacity::Statistic::kP99));
  }
  live_service::KnownGpus known;
  if (const auto gpu = facts.catalog.find_gpu(flags.engine.gpu); gpu && reading.gpus.empty()) known.gpu = *gpu;
  if (!flags.engine.tp.empty()) known.per_replica = flags.engine.tp.front();
  const live_service::Description d = live_service::describe(reading, slos, facts.catalog, book, known);
  if (!(d.requests_per_second > 0))
    return fail(bad_input(fmt::format("{} had no requests", reading.name())).with_hint("extend --window"));
  if (!d.isl.mean || !d.osl.mean)
    return fail(bad_input(fmt::format("{} publishes no request lengths", reading.name()))
                    .with_hint("use --rate-profile with --isl and --osl"));
  if (Checked<void> described = describe_replica(reading, d, facts, flags.engine); !described)
    return fail(described.error());
  return History{.service = reading.name(),
                 .rates = rates_of(reading, d.requests_per_second),
                 .slot = seconds(reading.step),
                 .window = seconds(reading.seconds()),
                 .lengths = lengths_of(reading, d),
                 .gpu_hours = d.gpu_hours.value_or(reading.replica_seconds * d.gpus_per_replica / 3600),
                 .over_slo = over_slo(d)};
}

Checked<PlannedPrice> read_replica_plan(AutoscaleFlags& flags) {
  RIGHTSIZE_TRY(std::string text, read_file(flags.plan, 64U << 20));
  const std::string file = flags.plan == "-" ? "standard input" : flags.plan;
  RIGHTSIZE_TRY(const decisions::Decision plan, decisions::read_plan(file, std::move(text), {}));
  const PlanFields fields(plan);
  BatchFlags& engine = flags.engine;
  const bool same_gpu = engine.gpu.empty();
  set(engine.gpu, plan.summary.choice.gpu);
  set(engine.precision, fields.text("precision"));
  set(engine.stack, fields.text("stack"));
  if (const auto tp = fields.number("tp"); tp && engine.tp.empty()) engine.tp = {static_cast<int>(*tp)};
  for (const char* name : {"max_sequences", "max_batch"})
    if (const auto most = fields.number(name); most && engine.input.max_batches.empty())
      engine.input.max_batches = {static_cast<int>(*most)};
  for (const char* name : {"token_budget", "max_batched_tokens"})
    if (const auto tokens = fields.number(name); tokens && !flags.token_budget)
      flags.token_budget = static_cast<std::int64_t>(*tokens);
  if (const auto at = fields.number("slo_percentile"); at && !flags.slo_percentile)
    flags.slo_percentile = format_number(*at);
  std::string slo, rate, sessions, trace, profile;
  const auto limit = [&](const char* name, const std::string& value) {
    slo += fmt::format("{}{}={}", slo.empty() ? "" : ",", name, value);
  };
  for (const auto& [name, value] : plan.request) {
    if (name == "model") set(engine.model, value);
    if (name == "isl") set(engine.isl, value);
    if (name == "osl") set(engine.osl, value);
    if (name == "kv-precision") set(engine.kv_precision, value);
    if (name == "ttft-slo") limit("ttft", value);
    if (name == "tpot-slo") limit("tpot", value);
    if (name == "latency-slo") limit("latency", value);
    if (name == "rate") rate = value;
    if (name == "sessions") sessions = value;
    if (name == "trace") trace = value;
    if (name == "rate-profile") profile = value;
  }
  set(flags.slo, slo);
  if (!has_traffic(flags)) {
    if (!trace.empty())
      flags.trace = trace;
    else if (!profile.empty())
      flags.rate_profile = profile;
    else if (!sessions.empty())
      engine.sessions = sessions;
    else
      engine.arrivals = rate;
  }
  if (!same_gpu || !plan.summary.cost || plan.summary.choice.gpus <= 0 || plan.summary.per != decisions::Per::kMonth)
    return PlannedPrice{};
  return PlannedPrice{in_usd(*plan.summary.cost) / in_hours(kMonth) / static_cast<double>(plan.summary.choice.gpus),
                      fmt::format("plan: {}", plan.summary.choice.words)};
}

}  // namespace rightsize::app
