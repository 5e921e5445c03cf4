#include "rightsize/autoscale/input.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "capacity/sessions.h"
#include "memory/weight_bytes.h"
#include "plan/read_parts.h"
#include "plan/startup.h"
#include "presets/presets.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

constexpr int kMostTensor = 8;

Result<autoscale::Limits> read_limits(const AutoscaleFlags& flags) {
  constexpr const char* kUsualLimits = "ttft=2s,tpot=100ms";
  if (flags.slo.empty()) note(fmt::format("assumed: --slo {} (no SLO was given)", kUsualLimits));
  RIGHTSIZE_TRY(const capacity::Statistic at, capacity::parse_percentile(flags.slo_percentile.value_or("99")));
  RIGHTSIZE_TRY(const std::vector<capacity::Slo> slos,
                capacity::parse_slos(flags.slo.empty() ? kUsualLimits : flags.slo, at));
  autoscale::Limits limits;
  limits.allowed = 1;
  for (const capacity::Slo& slo : slos) {
    if (slo.at == capacity::Statistic::kMean)
      return fail(
          bad_input("a limit on the mean cannot be checked for each request").with_hint("use ttft=1s or ttft-p95=1s"));
    sim::SimTime& limit = slo.quantity == capacity::Quantity::kTtft   ? limits.ttft
                          : slo.quantity == capacity::Quantity::kTpot ? limits.tpot
                                                                      : limits.latency;
    limit = std::min(limit, sim::to_sim_time(slo.limit));
    limits.allowed = std::min(limits.allowed, capacity::share_beyond(slo.at));
  }
  return limits;
}

// Every request is simulated, under every policy.
Result<> check_number(RequestsPerSecond rate, Seconds all) {
  constexpr double kFewest = 1, kMost = 50e6;
  const double requests = in_requests(rate * all);
  if (requests >= kFewest && requests <= kMost) return {};
  // In tenths of an hour, as --duration takes them. The most that is possible would take minutes.
  constexpr double kQuick = kMost / 20;
  const double tenths = 10 * in_hours(all) * (std::clamp(requests, kFewest, kQuick) / std::max(requests, 1e-12));
  const double possible = (requests < kFewest ? std::ceil(tenths) : std::floor(tenths)) / 10;
  return fail(bad_input(fmt::format("{:.3g} requests in {}; between 1 and {} can be simulated", requests,
                                    format_duration(all), format_count(kMost)))
                  .with_hint(requests > 0 ? fmt::format("use --duration {:g}h", possible) : ""));
}

// A trace has its own lengths and its own end; synthetic requests last for --duration, or for a day.
Checked<autoscale::Traffic> read_traffic(const AutoscaleFlags& flags, AutoscaleInput& input,
                                         sim::RequestShape& lengths) {
  RIGHTSIZE_TRY(lengths, lengths_of(flags.engine));
  const std::uint64_t seed = flags.engine.input.seed;
  const auto by_slots = [&](const std::vector<double>& rates, Seconds width,
                            Seconds otherwise) -> Checked<autoscale::Traffic> {
    const Seconds all = flags.duration.value_or(otherwise);
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    if (const Result<> few = check_number(requests_per_s(mean), all); !few) return fail(few.error());
    input.constant = std::adjacent_find(rates.begin(), rates.end(), std::not_equal_to<>()) == rates.end();
    return autoscale::by_slots(rates, sim::to_sim_time(width), lengths, seed, sim::to_sim_time(all));
  };
  if (input.history) {
    const History& h = *input.history;
    if (flags.engine.isl.empty()) lengths.size = h.lengths.size, lengths.size_variation = h.lengths.size_variation;
    if (flags.engine.osl.empty())
      lengths.output = h.lengths.output, lengths.output_variation = h.lengths.output_variation;
    input.traffic_words = fmt::format("{} of {}", format_duration(flags.duration.value_or(h.window)), h.service);
    return by_slots(h.rates, h.slot, h.window);
  }
  if (!flags.rate_profile.empty()) {
    RIGHTSIZE_TRY(const std::vector<double> rates, plan::read_rate_profile(flags.rate_profile));
    const Seconds all = hours(static_cast<double>(rates.size()));
    input.traffic_words = fmt::format("{} over {}", flags.rate_profile, format_duration(flags.duration.value_or(all)));
    return by_slots(rates, hours(1), all);
  }
  const std::string text = flags.trace.empty() ? flags.engine.arrivals : "trace:" + flags.trace;
  sim::ArrivalProcess process;
  if (!flags.engine.sessions.empty()) {
    RIGHTSIZE_TRY(const sim::Sessions sessions, sim::parse_sessions(flags.engine.sessions));
    process = capacity::session_traffic(sessions, {.requests = flags.engine.input.requests, .seed = seed});
  } else {
    RIGHTSIZE_TRY(process, sim::parse_arrivals(text));
  }
  if (const sim::Trace* trace = sim::trace_of(process); trace != nullptr && trace->rates) {
    const sim::RateSeries& series = *trace->rates;
    const Seconds all = series.step * static_cast<double>(series.rates.size());
    input.traffic_words =
        fmt::format("requests at the rates of {} over {}", trace->file, format_duration(flags.duration.value_or(all)));
    return by_slots(series.rates, series.step, all);
  }
  if (const sim::Trace* trace = sim::trace_of(process)) {
    input.cluster.prompts = trace->prompts;
    input.cluster.closed = trace->closed, input.cluster.closed_requests = trace->arrivals.size();
    if (!trace->has_tokens)
      return fail(
          bad_input(fmt::format("{}: no tokens in and out", trace->file))
              .with_hint("columns are TIMESTAMP,ContextTokens,GeneratedTokens, t,size,output or timestamp,rps"));
    const double longest = lengths.longest;
    lengths = sim::mean_shape(process, lengths);
    lengths.longest = longest;
    input.traffic_words = fmt::format("{} requests of {}", format_count(static_cast<double>(trace->arrivals.size())),
                                      trace->file.empty() ? "sessions" : trace->file);
    return autoscale::replay(process, lengths, seed, sim::kNever);
  }
  const auto* day = std::get_if<sim::Diurnal>(&process);
  if (day != nullptr) input.day = *day;
  input.constant = std::holds_alternative<sim::Poisson>(process);
  const Seconds all = flags.duration.value_or(day != nullptr ? day->period : days(1));
  const RequestsPerSecond rate = sim::mean_rate(process).value_or(RequestsPerSecond{});
  if (const Result<> few = check_number(rate, all); !few) return fail(few.error());
  input.traffic_words = fmt::format("{} over {}", text, format_duration(all));
  return autoscale::replay(process, lengths, seed, sim::to_sim_time(all));
}

Checked<autoscale::StartedModel> started_model(const BatchFlags& engine, int gpus) {
  RIGHTSIZE_TRY(const model::ModelShape shape, model::find_model(engine.model));
  const double each = shape.checkpoint ? memory::bytes_per_element(*shape.checkpoint) : 2.0;
  autoscale::StartedModel model;
  model.weights = bytes(each * static_cast<double>(shape.loaded_parameters()));
  model.layers = shape.layers + shape.encoder_layers;
  model.gpus = gpus;
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(engine.catalog));
  const Result<const catalog::Gpu*> gpu = catalog.find_gpu(engine.gpu);
  const model::Stack stack = engine.stack == "sglang"   ? model::Stack::kSglang
                             : engine.stack == "trtllm" ? model::Stack::kTrtLlm
                                                        : model::Stack::kVllm;
  model.image = plan::image_size(plan::serving_image(stack, gpu && (*gpu)->vendor == "AMD"));
  return model;
}

// Ways to have a part of the start-up done in advance, in order of effort.
std::vector<std::pair<std::string, autoscale::Startup>> faster_starts(const autoscale::StartedModel& model,
                                                                      autoscale::StartupOptions options) {
  std::vector<std::pair<std::string, autoscale::Startup>> faster;
  const auto add = [&](std::string name) {
    faster.emplace_back(std::move(name), autoscale::startup_of(model, options));
  };
  using autoscale::ImageSource;
  const bool pulls = options.image ? *options.image == ImageSource::kPull : !options.node.empty();
  if (pulls) {
    options.image = ImageSource::kStream;
    add("container image loaded lazily");
  }
  if (!options.node.empty() || pulls) {
    options.node.clear(), options.image.reset();
    add("warm pool: machines with the image");
  }
  if (options.compile == autoscale::Compilation::kCold) {
    options.compile = autoscale::Compilation::kCached;
    add("compilation cache");
  }
  if (options.weights != autoscale::WeightSource::kMemory && options.weights != autoscale::WeightSource::kPinned) {
    options.weights = autoscale::WeightSource::kMemory;
    add("weights in host memory");
  }
  options.wake = true;
  add("sleeping processes");
  return faster;
}

Checked<void> read_startup(const AutoscaleFlags& flags, int gpus, AutoscaleInput& input) {
  if (const Result<Seconds> time = parse_duration(flags.startup); time && !flags.startup.empty()) {
    if (!(*time >= seconds(0) && *time <= days(7))) return fail(bad_input("--startup must be between 0 and 7 d"));
    input.startup = autoscale::stated_startup(*time);
    return {};
  }
  RIGHTSIZE_TRY(const autoscale::StartupOptions options, autoscale::parse_startup(flags.startup));
  if (flags.engine.model.empty()) {
    return fail(bad_input("the start-up time of a replica is missing")
                    .with_hint("use --startup 110s, or --model to estimate it by stage"));
  }
  RIGHTSIZE_TRY(const autoscale::StartedModel model, started_model(flags.engine, gpus));
  input.startup = autoscale::startup_of(model, options);
  input.faster_starts = faster_starts(model, options);
  return {};
}

// Spot and committed prices of the same GPU, each the cheapest on the market; the user's own price replaces them all.
Checked<void> read_market(const AutoscaleFlags& flags, AutoscaleInput& input) {
  input.market.on_demand = input.usd_per_gpu_hour;
  if (!flags.engine.price.empty() || input.offer.replica.gpu.empty()) return {};
  Checked<catalog::Catalog> catalog = open_catalog(flags.engine.catalog);
  if (!catalog) return fail(catalog.error());
  const market::PriceBook book(*catalog);
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog->find_gpu(input.offer.replica.gpu));
  const auto price = [&](catalog::Purchase purchase) -> std::optional<double> {
    const auto quote = book.gpu(*gpu, purchase, input.offer.replica.gpus);
    return quote ? std::optional(in_usd_per_gpu_hour(quote->rate)) : std::nullopt;
  };
  input.market.spot = price(catalog::Purchase::kSpot);
  input.market.one_year = price(catalog::Purchase::kOneYear);
  return {};
}

// The replica: measured step times, or the speed model on --tp GPUs (by default, the fewest that hold the model).
Checked<BatchOffer> read_offer(const AutoscaleFlags& flags, const sim::RequestShape& lengths, BatchInput& read) {
  BatchFlags engine = flags.engine;
  engine.policy = "continuous";
  if (engine.tp.size() > 1) return fail(bad_input("--tp takes one number here"));
  const std::vector<int> given = engine.tp;
  if (engine.tp.empty()) {
    for (int n = 1; n <= kMostTensor; n *= 2) engine.tp.push_back(n);
  }
  read = engine.input;
  read.continuous = true;
  read.service.lengths = lengths;
  if (engine.kv_tokens) read.usual.engine.kv_tokens = *engine.kv_tokens;
  RIGHTSIZE_TRY(const std::vector<BatchOffer> offers, offers_of(engine, read));
  BatchOffer offer = offers.front();
  if (offer.usd_per_hour) *offer.usd_per_hour /= offer.replica.gpus;  // per GPU until their number is known
  if (!given.empty()) offer.replica.gpus = given.front();
  return offer;
}

bool has_history(const AutoscaleFlags& flags) { return !flags.server.prometheus.empty() || !flags.from.empty(); }

int traffics(const AutoscaleFlags& flags) {
  const auto given = [](const std::string& text) { return text.empty() ? 0 : 1; };
  return given(flags.trace) + given(flags.rate_profile) + given(flags.engine.arrivals) + given(flags.engine.sessions) +
         given(flags.server.prometheus) + (flags.from.empty() ? 0 : 1);
}

}  // namespace

bool has_traffic(const AutoscaleFlags& flags) { return traffics(flags) > 0; }

Checked<AutoscaleInput> read_input(const AutoscaleFlags& given) {
  AutoscaleFlags flags = given;
  AutoscaleInput input;
  if (const auto gpus = take_replica_gpus(flags.engine.gpu); gpus && flags.engine.tp.empty()) flags.engine.tp = {*gpus};
  if (traffics(flags) > 1)
    return fail(
        bad_input("the traffic is given twice; use one of --trace, --arrivals, --sessions, --rate-profile, "
                  "--prometheus and --from"));
  if (Result<> fine = check_server_flags(flags.server, {"--window", "--end"}); !fine)
    return fail(std::move(fine).error());
  PlannedPrice planned;
  if (!flags.plan.empty()) {
    RIGHTSIZE_TRY(planned, read_replica_plan(flags));
  }
  if (has_history(flags)) {
    RIGHTSIZE_TRY(input.history, read_history(flags));
  }
  const int stated = flags.engine.tp.empty() ? 1 : flags.engine.tp.front();
  if (!has_traffic(flags)) {
    if (!flags.policies.empty() || !flags.emit.empty() || flags.engine.model.empty())
      return fail(
          bad_input(flags.emit.empty() ? "no traffic given" : "--emit needs traffic, from which the policy is chosen")
              .with_hint(
                  "use --arrivals 6/min or diurnal:20,1.8, --trace FILE, --rate-profile FILE or --prometheus URL"));
    if (Checked<void> startup = read_startup(flags, stated, input); !startup) return fail(startup.error());
    input.offer.replica.gpus = stated;
    return input;
  }
  RIGHTSIZE_TRY(input.cluster.slo, read_limits(flags));
  input.cluster.least_replicas = flags.min_replicas.value_or(input.cluster.least_replicas);
  input.cluster.most_replicas = flags.max_replicas.value_or(input.cluster.most_replicas);
  if (input.cluster.least_replicas > input.cluster.most_replicas)
    return fail(bad_input("--min-replicas exceeds --max-replicas"));
  for (const std::string& text : flags.policies) {
    RIGHTSIZE_TRY(autoscale::Policy policy, autoscale::parse_policy(text));
    input.policies.push_back(bounded(std::move(policy), input.cluster));
  }
  RIGHTSIZE_TRY(input.traffic, read_traffic(flags, input, input.lengths));
  BatchInput read;
  RIGHTSIZE_TRY(input.offer, read_offer(flags, input.lengths, read));
  if (planned.usd_per_gpu_hour && flags.engine.price.empty())
    input.offer.usd_per_hour = planned.usd_per_gpu_hour, input.offer.price_source = planned.source;
  input.usd_per_gpu_hour = input.offer.usd_per_hour;
  if (Checked<void> startup = read_startup(flags, input.offer.replica.gpus, input); !startup)
    return fail(startup.error());
  if (Checked<void> market = read_market(flags, input); !market) return fail(market.error());
  input.cluster.startup = sim::to_sim_time(input.startup.total());
  input.cluster.cost = input.offer.replica.step;
  input.cluster.engine = read.usual.engine;
  if (flags.token_budget) input.cluster.engine.token_budget = *flags.token_budget;
  input.cluster.engine.max_sequences = read.max_batches.empty() ? capacity::kMostSequences : read.max_batches.back();
  if (input.cluster.prompts) {
    using model::Stack;
    input.cluster.engine.cache_block = capacity::cache_block(flags.engine.stack == "sglang"   ? Stack::kSglang
                                                             : flags.engine.stack == "trtllm" ? Stack::kTrtLlm
                                                                                              : Stack::kVllm);
  }
  input.cluster.most_in_flight = static_cast<std::size_t>(flags.most_in_flight.value_or(0));
  input.emit = flags.emit;
  input.name = !flags.name.empty() ? flags.name : flags.engine.model.empty() ? "model" : flags.engine.model;
  if (!flags.engine.stack.empty()) input.stack = flags.engine.stack;
  if (flags.duration) input.cluster.until = sim::to_sim_time(*flags.duration);
  return input;
}

void declare(FlagSet& command, AutoscaleFlags& f) {
  BatchFlags& e = f.engine;
  command.add("model", e.model)->argument();
  command.add("gpu", e.gpu)->argument()->meaning("the GPU of a replica");
  command.add("tp", e.tp)->meaning("GPUs a replica is split over")->or_words("the fewest that hold the model");
  add_window_flags(command, f.server);
  command.add("from", f.from)->meaning("files of a running service instead, as in 'rightsize service'");
  command.add("service", f.service);
  command.add("replica-plan", f.plan)->called("plan");
  command.add("trace", f.trace)
      ->meaning("recorded traffic: time, tokens in and out; or a rate over time: timestamp,rps");
  command.add("arrivals", e.arrivals);
  command.add("rate-profile", f.rate_profile)->meaning("CSV with columns hour, rate (hours 0-23, or 0-167 for a week)");
  command.add("sessions", e.sessions);
  command.add("isl", e.isl)->meaning("prompt tokens without a trace: 1024; 1024,fixed or 1k,p95=8k")->or_words("1024");
  command.add("osl", e.osl)->meaning("output tokens, written like --isl")->or_words("256");
  command.add("lengths", e.lengths);
  command.add("slo", f.slo)->meaning("limits on each request: ttft=1s,tpot=50ms");
  command.add("slo-percentile", f.slo_percentile)
      ->meaning("share of requests that must meet them: 99 allows 1 % over")
      ->or_words("99");
  command.add("replica-startup", f.startup)->called("startup");
  command.add("scaling-policy", f.policies)->called("policy");
  command.add("min-replicas", f.min_replicas);
  command.add("max-replicas", f.max_replicas);
  command.add("duration", f.duration)
      ->meaning("stop the clock here; requests that are not finished do not count")
      ->or_words("the end of the traffic");
  command.add("max-in-flight", f.most_in_flight);
  command.add("stack", e.stack)->meaning("vllm, trtllm or sglang")->or_words("vllm");
  command.add("precision", e.precision)->meaning("number format of the weights")->or_words("as published, else bf16");
  command.add("kv-precision", e.kv_precision);
  command.add("max-batch", e.input.max_batches)->one_value()->meaning("most sequences that a replica runs at once");
  command.add("step-cost", e.step_time);
  command.add("token-budget", f.token_budget)->one_value();
  command.add("kv-tokens", e.kv_tokens);
  command.add("seed", e.input.seed);
  command.add("plans-only", f.plans_only)
      ->meaning("compare --policy on mean traffic and stop: GPU-hours and replicas without latencies");
  add_price_flag(command, e.price);
  command.add("purchase", e.purchase)->meaning("terms of catalogue prices: on-demand, spot, 1y or 3y");
  command.add("emit", f.emit)->meaning("files to write: keda, hpa, variantautoscaling, dynamo, knative, skyserve");
  command.add("name", f.name)->meaning("the service's name in those files")->or_words("the model's");
  add_connection_flags(command, f.server);
  add_catalog_flag(command, e.catalog);
}

}  // namespace rightsize::app
