#include "rightsize/batch/input.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/purchase_terms.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

using sim::SimTime;

namespace {
constexpr int kNoLimit = 65536;
}

Result<std::vector<int>> parse_sizes(const std::string& text, std::string_view flag) {
  std::vector<int> sizes;
  for (std::string_view word : split_list(text, ',')) {
    Result<double> value = parse_count(word);
    if (!value || *value < 1 || *value > 65536) {
      return fail(bad_input(fmt::format("{} '{}' must be a whole number from 1 to 65,536", flag, word)));
    }
    sizes.push_back(static_cast<int>(*value));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Result<std::int64_t> parse_positive(const std::string& text, std::string_view flag) {
  Result<double> value = parse_count(text);
  if (value && *value >= 1 && *value <= 1e12) return static_cast<std::int64_t>(*value);
  return fail(bad_input(fmt::format("{} '{}' must be a whole number of at least 1", flag, text)));
}

namespace {

Result<SimTime> parse_time(std::string_view text, const char* flag) {
  Result<Seconds> value = parse_duration(text);
  if (!value) return fail(Error(value.error()).with_hint(fmt::format("write a time: {} 5ms", flag)));
  if (*value > kYear) return fail(bad_input(fmt::format("{} '{}' is longer than a year", flag, text)));
  return sim::to_sim_time(*value);
}

// "GPU=rest" or "rest". A path may contain '=', so only a known GPU name counts.
std::pair<std::string, std::string> split_gpu(const std::string& text, const catalog::Catalog& catalog) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  Result<const catalog::Gpu*> gpu = catalog.find_gpu(text.substr(0, equals));
  return gpu ? std::pair{(*gpu)->name, text.substr(equals + 1)} : std::pair{std::string{}, text};
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
    if (equals == std::string_view::npos || field == fields.end()) {
      return fail(bad_input(fmt::format("unknown part '{}' of a step time", part))
                      .with_hint("--step-time base=6ms,prefill=15us,sequence=20us,context=4ns"));
    }
    RIGHTSIZE_TRY(const Seconds value, parse_duration(part.substr(equals + 1)));
    if (!(value >= seconds(0) && value <= hours(1)))
      return fail(bad_input(fmt::format("'{}' is out of range; use 0 to 1h", part)));
    cost.*(field->second) = in_seconds(value) * 1e9;
  }
  if (!(cost.base > 0)) return fail(bad_input("the base of a step time must be greater than 0: base=6ms"));
  return cost;
}

Checked<std::vector<BatchOffer>> with_prices(std::vector<BatchOffer> offers, const BatchFlags& flags,
                                             const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(flags.purchase));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  for (BatchOffer& offer : offers) {
    const Result<const catalog::Gpu*> gpu = catalog.find_gpu(offer.gpu);
    const auto quote = gpu ? book.gpu(**gpu, purchase) : book.own_gpu(offer.gpu);
    if (!quote) continue;
    offer.usd_per_hour = in_usd_per_hour(quote->rate * gpus(offer.gpus_each));
    offer.price_source = quote->source();
  }
  return offers;
}

Checked<BatchOffer> read_service(const std::string& text, const BatchFlags& flags, const catalog::Catalog& catalog,
                                 std::vector<sim::TableTime>& tables) {
  auto [gpu, file] = split_gpu(text, catalog);
  if (gpu.empty() && !flags.gpu.empty()) {
    RIGHTSIZE_TRY(const catalog::Gpu* named, named_gpu(catalog, flags.gpu));
    gpu = named->name;
  }
  RIGHTSIZE_TRY(std::string content, read_file(file));
  RIGHTSIZE_TRY(std::vector<sim::TableTime::Row> rows, sim::parse_service_table(file, std::move(content)));
  BatchOffer offer;
  offer.gpu = offer.replica.gpu = gpu;
  offer.replica.continuous = false;
  for (const sim::TableTime::Row& row : rows) offer.replica.sizes.push_back(row.batch);
  tables.emplace_back(std::move(rows), flags.pad);
  return offer;
}

// All tables up to the largest batch that any of them lists or --max-batch asks for. Beyond its end a table is extended
// in proportion.
Checked<std::vector<BatchOffer>> read_services(const BatchFlags& flags, const catalog::Catalog& catalog,
                                               const BatchInput& input) {
  std::vector<BatchOffer> offers;
  std::vector<sim::TableTime> tables;
  int most = input.max_batches.empty() ? 1 : input.max_batches.back();
  for (const std::string& text : flags.service) {
    RIGHTSIZE_TRY(BatchOffer offer, read_service(text, flags, catalog, tables));
    offers.push_back(std::move(offer));
    most = std::max(most, tables.back().largest_batch());
  }
  for (std::size_t i = 0; i < offers.size(); ++i)
    offers[i].replica.times = sim::tabulate(tables[i], most, input.overhead);
  return offers;
}

// Without --policy, sets `input.continuous` as the model needs it.
Checked<std::vector<BatchOffer>> read_offers(const BatchFlags& flags, BatchInput& input) {
  const bool& continuous = input.continuous;
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  std::vector<BatchOffer> offers;
  if (!continuous) {
    RIGHTSIZE_TRY(offers, read_services(flags, catalog, input));
  }
  for (const std::string& text : continuous ? flags.step_time : std::vector<std::string>{}) {
    auto [gpu, cost] = split_gpu(text, catalog);
    RIGHTSIZE_TRY(sim::StepCost step, parse_step_cost(cost));
    if (gpu.empty() && !flags.gpu.empty()) {
      RIGHTSIZE_TRY(const catalog::Gpu* named, named_gpu(catalog, flags.gpu));
      gpu = named->name;
    }
    offers.emplace_back();
    offers.back().gpu = offers.back().replica.gpu = gpu;
    offers.back().replica.step = step;
  }
  if (offers.empty() && !flags.model.empty()) {
    RIGHTSIZE_TRY(offers, predict_offers(flags, catalog, input));
  }
  if (offers.empty()) {
    return fail(continuous ? bad_input("continuous batching needs the time of a step")
                                 .with_hint("predict it: --model llama-3.1-8b --gpu h100-sxm")
                                 .with_hint("or give it: --step-time base=6ms,prefill=15us,sequence=20us,context=4ns")
                           : bad_input("no batch times").with_hint("--service FILE.csv with batch,ms_p50[,ms_p90]"));
  }
  return with_prices(std::move(offers), flags, catalog);
}

Result<double> parse_share(const std::string& text, std::string_view flag) {
  const bool percent = text.ends_with('%');
  const Result<double> number = parse_number(trim(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0))));
  const double share = number ? (percent ? *number / 100 : *number) : -1;
  if (share >= 0 && share <= 1) return share;
  return fail(bad_input(fmt::format("{} '{}' must be a share such as 0.1%", flag, text)));
}

Result<> read_queue(const BatchFlags& flags, BatchInput& input) {
  if (!flags.timeout.empty()) {
    RIGHTSIZE_TRY(input.service.queue.timeout, parse_time(flags.timeout, "--timeout"));
  }
  if (flags.timeout_action != "reject" && flags.timeout_action != "delay") {
    return fail(bad_input(fmt::format("unknown --timeout-action '{}'; use reject or delay", flags.timeout_action)));
  }
  if (flags.timeout_action == "delay") input.service.queue.on_timeout = sim::QueuePolicy::OnTimeout::kDelay;
  if (!flags.max_queue.empty()) {
    RIGHTSIZE_TRY(const std::int64_t most, parse_positive(flags.max_queue, "--max-queue"));
    input.service.queue.max_queue = static_cast<std::size_t>(most);
  }
  input.service.queue.allow_override = flags.timeout_override;
  if (flags.timeout_override && input.service.queue.timeout == 0) {
    return fail(bad_input("--timeout-override needs --timeout")
                    .with_hint("without --timeout, Triton ignores the timeouts of requests"));
  }
  double sum = 0;
  for (std::string_view word : split_list(flags.priorities, ',')) {
    RIGHTSIZE_TRY(const double share, parse_number(word));
    if (!(share >= 0)) return fail(bad_input(fmt::format("'{}' is not a share of requests", word)));
    input.service.priorities.push_back(share);
    sum += share;
  }
  for (double& share : input.service.priorities) share /= sum;
  return {};
}

Result<> read_slos(const BatchFlags& flags, BatchInput& input) {
  if (flags.slo.empty()) {
    const bool given = !flags.slo_percentile.empty() || !flags.max_load.empty();
    return given ? fail(bad_input("--slo-percentile and --max-load need --slo").with_hint("add --slo p99=100ms"))
                 : Result<>{};
  }
  capacity::Statistic otherwise = capacity::kDefaultPercentile;
  if (!flags.slo_percentile.empty()) {
    RIGHTSIZE_TRY(otherwise, capacity::parse_percentile(flags.slo_percentile));
  }
  RIGHTSIZE_TRY(input.service.slos, capacity::parse_slos(flags.slo, otherwise));
  RIGHTSIZE_TRY(input.service.most_rejected, parse_share(flags.max_rejected, "--max-rejected"));
  if (!flags.max_load.empty()) {
    RIGHTSIZE_TRY(input.service.max_load, parse_share(flags.max_load, "--max-load"));
    if (!(input.service.max_load > 0)) return fail(bad_input("--max-load must be greater than 0"));
  }
  return {};
}

// The usual defaults for missing lengths; a mean varies as in public traces.
Result<sim::RequestShape> read_lengths(const BatchFlags& flags) {
  static const std::vector<std::string> kWays{"varied", "fixed", "exponential"};
  if (std::find(kWays.begin(), kWays.end(), flags.lengths) == kWays.end()) {
    return fail(bad_input(fmt::format("unknown --lengths '{}'; use varied, fixed or exponential", flags.lengths))
                    .with_hint(did_you_mean(flags.lengths, kWays)));
  }
  const model::ServeSettings otherwise;
  capacity::Length isl{static_cast<double>(otherwise.isl), {}}, osl{static_cast<double>(otherwise.osl), {}};
  if (!flags.isl.empty()) {
    RIGHTSIZE_TRY(isl, capacity::parse_length(flags.isl));
  }
  if (!flags.osl.empty()) {
    RIGHTSIZE_TRY(osl, capacity::parse_length(flags.osl));
  }
  const bool varied = flags.lengths == "varied";
  if (!varied && (isl.variation.value_or(0) > 0 || osl.variation.value_or(0) > 0))
    return fail(bad_input("the variation of lengths is given twice").with_hint("use --lengths, or --isl 1k,p95=8k"));
  const capacity::UsualVariation usual = varied ? capacity::usual_variation() : capacity::UsualVariation{};
  return sim::RequestShape{.size = isl.mean,
                           .output = osl.mean,
                           .exponential = flags.lengths == "exponential",
                           .size_variation = isl.variation.value_or(usual.prompt),
                           .output_variation = osl.variation.value_or(usual.answer)};
}

Result<> read_settings(const BatchFlags& flags, BatchInput& input) {
  RIGHTSIZE_TRY(input.max_batches, parse_sizes(flags.max_batch, "--max-batch"));
  RIGHTSIZE_TRY(input.instances, parse_sizes(flags.instances, "--instances"));
  RIGHTSIZE_TRY(input.replicas, parse_sizes(flags.replicas, "--replicas"));
  RIGHTSIZE_TRY(input.usual.batching.preferred_sizes, parse_sizes(flags.preferred, "--preferred"));
  for (std::string_view word : split_list(flags.max_delay, ',')) {
    RIGHTSIZE_TRY(const SimTime delay, parse_time(word, "--max-delay"));
    input.delays.push_back(delay);
  }
  if (!flags.overhead.empty()) {
    RIGHTSIZE_TRY(input.overhead, parse_duration(flags.overhead));
  }
  if (!(flags.overlap >= 0 && flags.overlap <= 1)) return fail(bad_input("--instance-overlap must be between 0 and 1"));
  if (!flags.requests.empty()) {
    RIGHTSIZE_TRY(const std::int64_t requests, parse_positive(flags.requests, "--requests"));
    input.requests = static_cast<std::uint64_t>(requests);
  }
  RIGHTSIZE_TRY(input.usual.engine.token_budget, parse_positive(flags.token_budget, "--token-budget"));
  if (!flags.kv_tokens.empty()) {
    RIGHTSIZE_TRY(input.usual.engine.kv_tokens, parse_positive(flags.kv_tokens, "--kv-tokens"));
  }
  RIGHTSIZE_TRY(input.service.lengths, read_lengths(flags));
  input.usual.engine.chunked_prefill = !flags.no_chunked_prefill;
  if (Result<> slos = read_slos(flags, input); !slos) return slos;
  return read_queue(flags, input);
}

Result<> read_fleet(const std::string& text, BatchInput& input) {
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t colon = part.find(':');
    const std::string gpu(part.substr(0, colon));
    Result<std::int64_t> count =
        colon == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(part.substr(colon + 1));
    auto offer =
        std::find_if(input.offers.begin(), input.offers.end(), [&](const BatchOffer& o) { return o.gpu == gpu; });
    if (offer == input.offers.end() || !count || *count < 1 || *count > 1024) {
      return fail(bad_input(fmt::format("--fleet cannot use '{}'", part))
                      .with_hint("write --fleet h100-sxm:1,l4:2, with a --service GPU=FILE for each GPU"));
    }
    input.fleet.push_back({static_cast<std::size_t>(offer - input.offers.begin()), static_cast<int>(*count)});
  }
  return {};
}

}  // namespace

std::string BatchOffer::name() const {
  const std::string kind = gpu.empty() ? "GPU" : gpu;
  return gpus_each == 1 ? kind : fmt::format("{} (tp {})", kind, gpus_each);
}

int BatchInput::largest_batch() const {
  int most = kNoLimit;
  for (const BatchOffer& offer : offers) most = std::min(most, offer.replica.times.max_batch());
  return most;
}

std::uint64_t BatchInput::left_out() const {
  const sim::Trace* trace = sim::trace_of(service.arrivals);
  const std::uint64_t all = trace == nullptr ? 0 : trace->arrivals.size();
  return all > requests ? all - requests : 0;
}

Checked<BatchInput> read_input(const BatchFlags& flags) {
  static const std::vector<std::string> kPolicies{"dynamic", "none", "continuous"};
  static const std::vector<std::string> kTargets{"triton", "vllm", "trtllm", "kserve", "kubernetes"};
  BatchInput input;
  if (!flags.policy.empty() && std::find(kPolicies.begin(), kPolicies.end(), flags.policy) == kPolicies.end()) {
    return fail(bad_input(fmt::format("unknown policy '{}'", flags.policy))
                    .with_hint(did_you_mean(flags.policy, kPolicies))
                    .with_hint("use dynamic, none or continuous"));
  }
  for (std::string_view word : split_list(flags.emit, ',')) {
    if (std::find(kTargets.begin(), kTargets.end(), word) == kTargets.end()) {
      return fail(bad_input(fmt::format("unknown --emit target '{}'", word))
                      .with_hint(did_you_mean(word, kTargets))
                      .with_hint(fmt::format("use {}", fmt::join(kTargets, ", "))));
    }
    input.emit.emplace_back(word);
  }
  input.continuous = flags.policy == "continuous" || (flags.policy.empty() && !flags.step_time.empty());
  input.seed = flags.seed;
  input.explain = flags.explain;
  input.name = flags.name;
  input.arrivals_text = flags.arrivals;
  if (Result<> settings = read_settings(flags, input); !settings) return fail(settings.error());
  if (flags.policy == "none") input.max_batches = {1};
  if (flags.arrivals.empty()) {
    return fail(
        bad_input("no arrivals given").with_hint("use --arrivals poisson:100, mmpp:..., diurnal:... or trace:FILE"));
  }
  RIGHTSIZE_TRY(input.offers, read_offers(flags, input));
  if (input.continuous) {
    const bool limits = !input.service.queue.never_acts() || !input.service.priorities.empty();
    if (limits) return fail(bad_input("--timeout, --max-queue and --priorities need --policy dynamic"));
  }
  for (BatchOffer& offer : input.offers) {
    offer.replica.overlap = flags.overlap;
    if (!flags.kv_tokens.empty()) offer.replica.step.kv_tokens = 0;  // replaces the value of the memory model
  }
  RIGHTSIZE_TRY(input.service.arrivals, sim::parse_arrivals(flags.arrivals));
  if (Result<> fleet = read_fleet(flags.fleet, input); !fleet) return fail(fleet.error());
  if (!input.continuous && !input.max_batches.empty() && input.max_batches.back() > input.largest_batch()) {
    return fail(bad_input(fmt::format("batches of {} may not fit; the largest known batch is {}",
                                      input.max_batches.back(), input.largest_batch())));
  }
  const sim::Trace* trace = sim::trace_of(input.service.arrivals);
  constexpr std::uint64_t kSynthetic = 200'000;
  if (input.requests == 0) input.requests = trace == nullptr ? kSynthetic : trace->arrivals.size();
  const bool asks_tokens = std::any_of(input.service.slos.begin(), input.service.slos.end(),
                                       [](const auto& slo) { return slo.quantity != capacity::Quantity::kLatency; });
  if (asks_tokens && !input.continuous) return fail(bad_input("SLOs on ttft and tpot need --policy continuous"));
  return input;
}

void declare(FlagSet& command, BatchFlags& f) {
  command.add("batch-times", f.service);
  command.add_flag("--pad", f.pad, "run a batch as the next listed size (captured graphs) instead of interpolating");
  command.add_option("--model,model", f.model, "predict the times of this model instead (with --gpu)");
  command.add_option("--gpu,gpu", f.gpu, "the GPU the times belong to; with --model a list to search over");
  command.add_option("--tp", f.tp, "language models: GPUs a replica is split over; a list to search over");
  command.add_option("--stack", f.stack, "language models: vllm, trtllm or sglang")->default_str("vllm");
  command.add_option("--precision", f.precision, "language models: of the weights")->default_str("bf16");
  command.add_option("--kv-precision", f.kv_precision, "language models: of the KV cache");
  command.add_option("--arrivals", f.arrivals,
                     "RATE or poisson:RATE, mmpp:CALM,BURST,10s,1s, diurnal:MEAN,PEAK[,24h] or trace:FILE");
  command.add_option("--policy", f.policy, "dynamic (Triton's batcher), none, or continuous (LLMs)")
      ->default_str("as the model needs, else dynamic");
  command.add_option("--max-batch", f.max_batch, "largest batch, or sequences at once; a list to search over");
  command.add_option("--max-delay", f.max_delay,
                     "longest time a request waits for others, e.g. 10ms; a list is searched");
  command.add_option("--preferred", f.preferred, "preferred batch sizes, comma-separated");
  command.add_option("--instances", f.instances, "model instances on each GPU; a list to search over")
      ->default_str("1");
  command
      .add_option("--instance-overlap", f.overlap,
                  "0: instances share the GPU evenly; 1: they do not slow each other down")
      ->default_str("0");
  command.add_option("--replicas", f.replicas, "GPUs, each with its own queue; a list to search over");
  command.add("gpu-mix", f.fleet);
  command.add_option("--timeout", f.timeout, "longest wait in the queue");
  command.add_option("--timeout-action", f.timeout_action, "reject or delay")->default_str("reject");
  command.add_flag("--timeout-override", f.timeout_override,
                   "requests of a trace may have a shorter one (column timeout_ms; Triton's allow_timeout_override)");
  command.add_option("--max-queue", f.max_queue, "longest queue; further requests are rejected");
  command.add_option("--priorities", f.priorities,
                     "share of requests of each priority level, the first served first: 0.2,0.8");
  command.add_option("--overhead", f.overhead, "time the server adds to every batch, e.g. 50us");
  command.add_option("--requests", f.requests, "how many to simulate")->default_str("200k; all of a trace");
  command.add_option("--seed", f.seed, "of the random numbers; equal seeds give equal results")->default_str("1");
  command.add_option("--slo", f.slo,
                     "find the cheapest setting that meets p99=100ms (mean, p50, p90, p95, p99 of latency), "
                     "ttft=500ms, tpot-p95=40ms; several with commas");
  command.add_option("--slo-percentile", f.slo_percentile, "percentile of ttft and tpot in --slo: 50, 90, 95, 99")
      ->default_str("95");
  command.add_option("--max-load", f.max_load, "with --slo: highest load as a share of capacity")->default_str("0.8");
  command.add_option("--max-rejected", f.max_rejected, "with --slo: share of requests that may be rejected")
      ->default_str("0.1%");
  add_price_flag(command, f.price);
  command.add_option("--purchase", f.purchase, "terms of catalogue prices: on-demand, spot, 1y, 3y")
      ->default_str("on-demand");
  command.add("step-cost", f.step_time);
  command.add_option("--token-budget", f.token_budget, "continuous: tokens a step")->default_str("8192");
  command.add_option("--kv-tokens", f.kv_tokens, "continuous: tokens the cache of a replica holds")
      ->default_str("of the model, else 1M");
  command.add_option("--isl", f.isl, "prompt tokens on average, 1024,fixed or 1k,p95=8k; or tokens of a sample")
      ->default_str("1024; of a sample the model's");
  command.add_option("--osl", f.osl, "continuous: tokens generated, the same way")->default_str("256");
  command.add_option("--lengths", f.lengths, "continuous: varied (as in public traces), fixed or exponential")
      ->default_str("varied");
  command.add_flag("--no-chunked-prefill", f.no_chunked_prefill, "continuous: prompts are processed whole");
  command.add_option("--emit", f.emit, "files to write: triton, vllm, trtllm, kserve, kubernetes");
  command.add_option("--name", f.name, "the model's name in those")->default_str("model");
  command.add_flag("--explain", f.explain, "also show the step times that the speed model predicts");
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
