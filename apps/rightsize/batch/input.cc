#include "rightsize/batch/input.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "capacity/sessions.h"
#include "catalog/words.h"
#include "presets/model_job.h"
#include "presets/presets.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

// "GPU=rest", or "rest" for the GPU of --gpu. A path may contain '=', so only a known GPU name counts.
struct OfGpu {
  std::string gpu, rest;
};
Result<OfGpu> split_gpu(const std::string& text, const BatchFlags& flags, const catalog::Catalog& catalog) {
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    const Result<const catalog::Gpu*> gpu = catalog.find_gpu(text.substr(0, equals));
    if (gpu) return OfGpu{(*gpu)->name, text.substr(equals + 1)};
  }
  if (flags.gpu.empty()) return OfGpu{"", text};
  RIGHTSIZE_TRY(const catalog::Gpu* named, named_gpu(catalog, flags.gpu));
  return OfGpu{named->name, text};
}

Result<sim::StepCost> parse_step_cost(const std::string& text) {
  sim::StepCost cost;
  const std::map<std::string, double sim::StepCost::*> fields{{"base", &sim::StepCost::base},
                                                              {"prefill", &sim::StepCost::prefill},
                                                              {"sequence", &sim::StepCost::sequence},
                                                              {"context", &sim::StepCost::context}};
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    const auto field = fields.find(std::string(trim(part.substr(0, equals))));
    if (equals == std::string_view::npos || field == fields.end())
      return fail(bad_input(fmt::format("unknown part '{}' of a step time", part))
                      .with_hint("--step-time base=6ms,prefill=15us,sequence=20us,context=4ns"));
    RIGHTSIZE_TRY(const Seconds value, parse_duration(part.substr(equals + 1)));
    if (!(value >= seconds(0) && value <= hours(1)))
      return fail(bad_input(fmt::format("'{}' is out of range; use 0 to 1h", part)));
    cost.*(field->second) = in_seconds(value) * 1e9;
  }
  if (!(cost.base > 0)) return fail(bad_input("the base of a step time must be greater than 0: base=6ms"));
  return cost;
}

// Extends every table, in proportion, to the largest batch in any table or in --max-batch.
Checked<std::vector<BatchOffer>> read_services(const BatchFlags& flags, const catalog::Catalog& catalog,
                                               const BatchInput& input) {
  std::vector<std::pair<std::string, sim::TableTime>> tables;
  int most = input.max_batches.empty() ? 1 : input.max_batches.back();
  for (const std::string& text : flags.service) {
    RIGHTSIZE_TRY(const OfGpu file, split_gpu(text, flags, catalog));
    RIGHTSIZE_TRY(std::string content, read_file(file.rest));
    RIGHTSIZE_TRY(sim::ServiceTable table, sim::parse_service_table(file.rest, std::move(content)));
    for (const std::string& words : table.notes) note(words);
    tables.emplace_back(file.gpu, sim::TableTime(std::move(table.rows), flags.pad));
    most = std::max(most, tables.back().second.largest_batch());
  }
  std::vector<BatchOffer> offers;
  for (const auto& [gpu, table] : tables) {
    offers.push_back({capacity::measured_replica(table, most, input.overhead)});
    offers.back().replica.gpu = gpu;
  }
  return offers;
}

Result<> read_queue(const BatchFlags& flags, capacity::Service& service) {
  service.queue.timeout = sim::to_sim_time(flags.timeout);
  if (flags.timeout_action == "delay") service.queue.on_timeout = sim::QueuePolicy::OnTimeout::kDelay;
  if (service.queue.allow_override && service.queue.timeout == 0)
    return fail(bad_input("--timeout-override needs --timeout")
                    .with_hint("without --timeout, Triton ignores the timeouts of requests"));
  double sum = 0;
  for (std::string_view word : split_list(flags.priorities, ',')) {
    RIGHTSIZE_TRY(const double share, parse_number(word));
    if (!(share >= 0)) return fail(bad_input(fmt::format("'{}' is not a share of requests", word)));
    service.priorities.push_back(share);
    sum += share;
  }
  for (double& share : service.priorities) share /= sum;
  return {};
}

Result<> read_slos(const BatchFlags& flags, capacity::Service& service) {
  if (flags.slo.empty()) {
    const bool given = flags.slo_percentile || flags.max_load;
    return given ? fail(bad_input("--slo-percentile and --max-load need --slo").with_hint("add --slo p99=100ms"))
                 : Result<>{};
  }
  RIGHTSIZE_TRY(const capacity::Statistic otherwise, capacity::parse_percentile(flags.slo_percentile.value_or("95")));
  RIGHTSIZE_TRY(service.slos, capacity::parse_slos(flags.slo, otherwise));
  service.max_load = flags.max_load.value_or(service.max_load);
  return {};
}

// Conversations at the rate of --arrivals, or at the rate that follows from the users' think time.
Checked<std::shared_ptr<const sim::Trace>> read_sessions(const BatchFlags& flags, const BatchInput& input) {
  RIGHTSIZE_TRY(const sim::Sessions sessions, sim::parse_sessions(flags.sessions));
  if (!flags.osl.empty() || (!flags.isl.empty() && !sessions.repeat))
    return fail(bad_input("lengths are given twice").with_hint("use turn-in and turn-out of --sessions"));
  capacity::SessionWish wish{.requests = input.requests, .seed = input.seed};
  if (!flags.arrivals.empty()) {
    RIGHTSIZE_TRY(const sim::ArrivalProcess arrivals, sim::parse_arrivals(flags.arrivals));
    if (!std::holds_alternative<sim::Poisson>(arrivals))
      return fail(
          Errors{bad_input("with --sessions, --arrivals is a rate").with_hint("--arrivals 20/s, or leave it out")});
    wish.rate = *sim::mean_rate(arrivals);
  }
  if (!flags.isl.empty()) wish.isl = input.service.lengths.size;
  if (!flags.model.empty()) {
    RIGHTSIZE_TRY(const model::ModelShape shape, model::find_model(flags.model));
    wish.context = shape.context;
  }
  return capacity::session_traffic(sessions, wish);
}

// --trace as recorded, or at the rate of --arrivals.
Checked<sim::ArrivalProcess> read_arrivals(const BatchFlags& flags) {
  if (flags.trace.empty()) return sim::parse_arrivals(flags.arrivals);
  RIGHTSIZE_TRY(const sim::ArrivalProcess trace, sim::parse_arrivals("trace:" + flags.trace));
  if (flags.arrivals.empty()) return trace;
  RIGHTSIZE_TRY(const sim::ArrivalProcess rate, sim::parse_arrivals(flags.arrivals));
  const std::optional<RequestsPerSecond> recorded = sim::mean_rate(trace);
  if (!std::holds_alternative<sim::Poisson>(rate) || !recorded)
    return fail(bad_input("with --trace, --arrivals is a rate").with_hint("--arrivals 20/s, or leave it out"));
  return sim::scaled(trace, *sim::mean_rate(rate) / *recorded);
}

// Repeated prefixes hit the engine's prefix cache.
void set_prefix_cache(const BatchFlags& flags, capacity::Service& service) {
  const sim::Trace* trace = sim::trace_of(service.arrivals);
  if (trace == nullptr || !trace->prompts) return;
  using model::Stack;
  const Stack stack = flags.stack == "sglang"   ? Stack::kSglang
                      : flags.stack == "trtllm" ? Stack::kTrtLlm
                                                : Stack::kVllm;
  service.cache_block = capacity::cache_block(stack);
  service.routing = capacity::parse_routing(flags.routing);
}

Result<> read_fleet(const std::string& text, BatchInput& input) {
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t colon = part.find(':');
    const std::string gpu(part.substr(0, colon));
    Result<std::int64_t> count =
        colon == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(part.substr(colon + 1));
    auto offer = std::ranges::find_if(input.offers, [&](const BatchOffer& o) { return o.replica.gpu == gpu; });
    if (offer == input.offers.end() || !count || *count < 1 || *count > 1024)
      return fail(bad_input(fmt::format("--fleet cannot use '{}'", part))
                      .with_hint("write --fleet h100-sxm:1,l4:2, with a --service GPU=FILE for each GPU"));
    input.fleet.push_back({static_cast<std::size_t>(offer - input.offers.begin()), static_cast<int>(*count)});
  }
  return {};
}

Result<> check_targets(const std::vector<std::string>& emit) {
  static const std::vector<std::string> kTargets{"triton", "vllm", "trtllm", "kserve", "kubernetes"};
  for (const std::string& word : emit) {
    if (std::ranges::find(kTargets, word) != kTargets.end()) continue;
    return fail(bad_input(fmt::format("unknown --emit target '{}'", word))
                    .with_hint(did_you_mean(word, kTargets))
                    .with_hint(fmt::format("use {}", fmt::join(kTargets, ", "))));
  }
  return {};
}

std::vector<RentedMachine> machines_to_rent(const market::PriceBook& book, const catalog::Gpu& gpu,
                                            catalog::Purchase purchase, int together) {
  std::vector<RentedMachine> machines;
  for (const market::Offer& offer : book.machines_for(gpu, purchase, together))
    machines.push_back({offer.machine->gpus / together, offer.machine->gpus, in_usd_per_machine_hour(offer.rate()),
                        offer.machine->instance, market::describe(offer)});
  return machines;
}

}  // namespace

std::string BatchOffer::name() const {
  const std::string kind = replica.gpu.empty() ? "GPU" : replica.gpu;
  return replica.gpus == 1 ? kind : fmt::format("{} (tp {})", kind, replica.gpus);
}

std::pair<const RentedMachine*, int> BatchOffer::machines_for(int replicas) const {
  std::pair<const RentedMachine*, int> best{nullptr, 0};
  double least = INFINITY;
  for (const RentedMachine& machine : machines) {
    const int count = (replicas + machine.replicas - 1) / machine.replicas;
    if (count * machine.usd_per_hour >= least) continue;
    best = {&machine, count}, least = count * machine.usd_per_hour;
  }
  return best;
}

double BatchOffer::usd_per_hour_of(int replicas) const {
  const auto [machine, count] = machines_for(replicas);
  return machine != nullptr ? count * machine->usd_per_hour : usd_per_hour.value_or(NAN) * replicas;
}

int BatchInput::largest_batch() const {
  int most = 65536;
  for (const BatchOffer& offer : offers) most = std::min(most, offer.replica.times.max_batch());
  return most;
}

std::uint64_t BatchInput::left_out() const {
  const sim::Trace* trace = sim::trace_of(service.arrivals);
  const std::uint64_t all = trace == nullptr ? 0 : trace->arrivals.size();
  return all > requests ? all - requests : 0;
}

// Lengths vary around a given mean as in public traces. The model decides those that are not given.
Result<sim::RequestShape> lengths_of(const BatchFlags& flags) {
  std::optional<capacity::Length> isl, osl;
  if (!flags.isl.empty()) {
    RIGHTSIZE_TRY(isl, capacity::parse_length(flags.isl));
  }
  if (!flags.osl.empty()) {
    RIGHTSIZE_TRY(osl, capacity::parse_length(flags.osl));
  }
  model::Job usual_job;
  if (isl) usual_job.serve.isl = std::llround(isl->mean);
  if (osl) usual_job.serve.osl = std::llround(osl->mean);
  if (const auto model = model::find_model(flags.model); !flags.model.empty() && model)
    model::fill_lengths(*model, isl.has_value(), osl.has_value(), usual_job);
  if (!isl) isl = {static_cast<double>(usual_job.serve.isl), {}};
  if (!osl) osl = {static_cast<double>(usual_job.serve.osl), {}};
  const bool varied = flags.lengths == "varied";
  if (!varied && (isl->variation.value_or(0) > 0 || osl->variation.value_or(0) > 0))
    return fail(bad_input("the variation of lengths is given twice").with_hint("use --lengths, or --isl 1k,p95=8k"));
  const capacity::UsualVariation usual = varied ? capacity::usual_variation() : capacity::UsualVariation{};
  return sim::RequestShape{.size = isl->mean,
                           .output = osl->mean,
                           .exponential = flags.lengths == "exponential",
                           .size_variation = isl->variation.value_or(usual.prompt),
                           .output_variation = osl->variation.value_or(usual.answer)};
}

// Without --policy, the model decides `input.continuous`.
Checked<std::vector<BatchOffer>> offers_of(const BatchFlags& flags, BatchInput& input) {
  const bool& continuous = input.continuous;
  RIGHTSIZE_TRY(Facts facts, open_facts(flags.catalog));
  if (flags.constants) facts.constants = *flags.constants;
  std::vector<BatchOffer> offers;
  if (!continuous) {
    RIGHTSIZE_TRY(offers, read_services(flags, facts.catalog, input));
  }
  for (const std::string& text : continuous ? flags.step_time : std::vector<std::string>{}) {
    RIGHTSIZE_TRY(const OfGpu cost, split_gpu(text, flags, facts.catalog));
    BatchOffer& offer = offers.emplace_back();
    offer.replica.gpu = cost.gpu;
    RIGHTSIZE_TRY(offer.replica.step, parse_step_cost(cost.rest));
  }
  if (offers.empty() && !flags.model.empty()) {
    RIGHTSIZE_TRY(offers, predict_offers(flags, facts, input));
  }
  if (offers.empty()) {
    return fail(continuous ? bad_input("continuous batching needs the time of a step")
                                 .with_hint("predict it: --model llama-3.1-8b --gpu h100-sxm")
                                 .with_hint("or give it: --step-time base=6ms,prefill=15us,sequence=20us,context=4ns")
                           : bad_input("no batch times").with_hint("--service FILE.csv with batch,ms_p50[,ms_p90]"));
  }
  RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(flags.purchase));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, flags.price));
  for (BatchOffer& offer : offers) {
    const Result<const catalog::Gpu*> gpu = facts.catalog.find_gpu(offer.replica.gpu);
    if (const auto quote = gpu ? book.gpu(**gpu, purchase, offer.replica.gpus) : book.own_gpu(offer.replica.gpu)) {
      offer.usd_per_hour = in_usd_per_hour(quote->rate * gpus(offer.replica.gpus));
      offer.price_source = quote->source();
      if (!quote->is_own()) offer.machines = machines_to_rent(book, **gpu, purchase, offer.replica.gpus);
    }
    offer.replica.overlap = flags.overlap;
    if (flags.kv_tokens) offer.replica.step.kv_tokens = 0;  // replaces the value of the memory model
  }
  return offers;
}

Checked<BatchInput> read_input(const BatchFlags& flags) {
  BatchInput input = flags.input;
  if (Result<> known = check_targets(input.emit); !known) return fail(known.error());
  input.continuous = flags.policy == "continuous" || (flags.policy.empty() && !flags.step_time.empty());
  for (std::vector<int>* list :
       {&input.max_batches, &input.instances, &input.replicas, &input.usual.batching.preferred_sizes}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (flags.policy == "none") input.max_batches = {1};
  for (Seconds delay : flags.max_delay) input.delays.push_back(sim::to_sim_time(delay));
  if (flags.kv_tokens) input.usual.engine.kv_tokens = *flags.kv_tokens;
  input.usual.engine.chunked_prefill = !flags.no_chunked_prefill;
  RIGHTSIZE_TRY(input.service.lengths, lengths_of(flags));
  if (Result<> slos = read_slos(flags, input.service); !slos) return fail(slos.error());
  if (Result<> queue = read_queue(flags, input.service); !queue) return fail(queue.error());
  if (!flags.sessions.empty()) {
    RIGHTSIZE_TRY(const std::shared_ptr<const sim::Trace> trace, read_sessions(flags, input));
    input.service.arrivals = trace;
    input.service.lengths = sim::mean_shape(trace, {});
    input.requests = trace->arrivals.size();
    input.continuous |= flags.policy.empty();
  } else if (flags.arrivals.empty() && flags.trace.empty()) {
    return fail(
        bad_input("no arrivals given")
            .with_hint("use --arrivals poisson:100, mmpp:..., diurnal:... or trace:FILE, or --trace or --sessions"));
  }
  RIGHTSIZE_TRY(input.offers, offers_of(flags, input));
  const bool limits = !input.service.queue.never_acts() || !input.service.priorities.empty();
  if (input.continuous && limits)
    return fail(bad_input("--timeout, --max-queue and --priorities need --policy dynamic"));
  if (flags.sessions.empty()) {
    RIGHTSIZE_TRY(input.service.arrivals, read_arrivals(flags));
  }
  if (input.continuous) set_prefix_cache(flags, input.service);
  if (Result<> fleet = read_fleet(flags.fleet, input); !fleet) return fail(fleet.error());
  if (!input.continuous && !input.max_batches.empty() && input.max_batches.back() > input.largest_batch())
    return fail(bad_input(fmt::format("batches of {} may not fit; the largest known batch is {}",
                                      input.max_batches.back(), input.largest_batch())));
  const sim::Trace* trace = sim::trace_of(input.service.arrivals);
  constexpr std::uint64_t kSynthetic = 200'000;
  if (input.requests == 0) input.requests = trace == nullptr ? kSynthetic : trace->arrivals.size();
  const bool asks_tokens = std::ranges::any_of(
      input.service.slos, [](const auto& slo) { return slo.quantity != capacity::Quantity::kLatency; });
  if (asks_tokens && !input.continuous) return fail(bad_input("SLOs on ttft and tpot need --policy continuous"));
  return input;
}

void declare(FlagSet& command, BatchFlags& f) {
  command.add("batch-times", f.service);
  command.add("pad", f.pad);
  command.add("model", f.model)->argument()->meaning("predict the times of this model instead (with --gpu)");
  command.add("gpu", f.gpu)->argument()->meaning("the GPU the times belong to; with --model, a list is searched");
  command.add("tp", f.tp)->meaning("language models: GPUs a replica is split over; a list is searched");
  command.add("stack", f.stack)->meaning("language models: vllm, trtllm or sglang")->or_words("vllm");
  command.add("precision", f.precision)->meaning("number format of the weights")->or_words("as published, else bf16");
  command.add("kv-precision", f.kv_precision);
  command.add("arrivals", f.arrivals);
  command.add("trace", f.trace)->meaning("recorded traffic, as recorded or at the rate of --arrivals");
  command.add("sessions", f.sessions);
  command.add("routing", f.routing);
  command.add("policy", f.policy);
  command.add("max-batch", f.input.max_batches)->meaning("largest batch, or sequences at once; a list is searched");
  command.add("max-delay", f.max_delay);
  command.add("preferred", f.input.usual.batching.preferred_sizes);
  command.add("instances", f.input.instances);
  command.add("instance-overlap", f.overlap);
  command.add("replicas", f.input.replicas);
  command.add("gpu-mix", f.fleet);
  command.add("timeout", f.timeout)->meaning("longest wait in the queue");
  command.add("timeout-action", f.timeout_action);
  command.add("timeout-override", f.input.service.queue.allow_override);
  command.add("max-queue", f.input.service.queue.max_queue);
  command.add("priorities", f.priorities);
  command.add("overhead", f.input.overhead);
  command.add("requests", f.input.requests);
  command.add("seed", f.input.seed);
  command.add("slo", f.slo)
      ->meaning(
          "find the cheapest setting that meets p99=100ms (mean, p50, p90, p95, p99 of latency), ttft=500ms, "
          "tpot-p95=40ms; several with commas");
  command.add("slo-percentile", f.slo_percentile)->meaning("percentile of ttft and tpot in --slo");
  command.add("max-load", f.max_load)->meaning("with --slo: highest load as a share of capacity");
  command.add("max-rejected", f.input.service.most_rejected);
  add_price_flag(command, f.price);
  command.add("purchase", f.purchase)->meaning("terms of catalogue prices: on-demand, spot, 1y or 3y");
  command.add("step-cost", f.step_time);
  command.add("token-budget", f.input.usual.engine.token_budget);
  command.add("kv-tokens", f.kv_tokens);
  command.add("isl", f.isl)
      ->meaning("prompt tokens on average, 1024,fixed or 1k,p95=8k; or tokens of a sample")
      ->or_words("1024; of a sample the model's");
  command.add("osl", f.osl)->meaning("output tokens, written like --isl")->or_words("256; of speech models 100");
  command.add("lengths", f.lengths);
  command.add("no-chunked-prefill", f.no_chunked_prefill);
  command.add("emit", f.input.emit)->meaning("files to write: triton, vllm, trtllm, kserve, kubernetes");
  command.add("name", f.input.name)->meaning("the model's name in those files")->or_else("model");
  command.add("explain", f.input.explain)->meaning("also show the step times that the speed model predicts");
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
