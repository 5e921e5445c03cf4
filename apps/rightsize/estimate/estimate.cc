// rightsize estimate: how fast a job runs, its bottleneck and the interval.
#include "rightsize/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "base/usage_units.h"
#include "capacity/sessions.h"
#include "catalog/words.h"
#include "memory/memory.h"
#include "model/serve_settings.h"
#include "rightsize/estimate/report.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/sweep.h"
#include "rightsize/rl/step_report.h"
#include "sim/trace_file.h"

namespace rightsize::app {
namespace {

using Flags = EstimateFlags;

// "p5.48xlarge" or "aws/p5.48xlarge".
Result<const catalog::Machine*> find_machine(const catalog::Catalog& catalog, const std::string& name) {
  const std::size_t slash = name.find('/');
  for (const catalog::Machine& machine : catalog.machines) {
    const bool same = slash == std::string::npos
                          ? machine.instance == name
                          : machine.provider == name.substr(0, slash) && machine.instance == name.substr(slash + 1);
    if (same) return &machine;
  }
  return fail(bad_input(fmt::format("unknown machine '{}'", name)).with_hint("'rightsize prices' lists machines"));
}

Result<> read_cluster(const catalog::Catalog& catalog, const Flags& flags, SpeedInput& input) {
  input.cluster = perf::default_cluster(*input.gpu);
  if (!flags.machine.empty()) {
    RIGHTSIZE_TRY(const catalog::Machine* machine, find_machine(catalog, flags.machine));
    if (machine->gpu != input.gpu->name)
      return fail(bad_input(fmt::format("{} holds {}, not {}", machine->instance, machine->gpu, input.gpu->name))
                      .with_hint(fmt::format("use --gpu {}", machine->gpu)));
    input.cluster = perf::cluster_of(*machine, *input.gpu);
  }
  if (!flags.network.empty()) {
    RIGHTSIZE_TRY(const BytesPerSecond network, settings::read_as<BytesPerSecond>("network", flags.network));
    // A rack that is one NVLink domain consists of hosts with at most eight GPUs, and each host has this network.
    input.cluster.network_per_gpu = network / std::min(input.cluster.node_gpus, 8);
    input.cluster.network_known = true;
  }
  return {};
}

// --gpu, or the GPU of --machine.
Result<const catalog::Gpu*> find_gpu(const catalog::Catalog& catalog, const Flags& flags, const std::string& gpu) {
  if (!gpu.empty()) return named_gpu(catalog, gpu);
  if (flags.machine.empty())
    return fail(bad_input("--gpu is missing").with_hint("'rightsize gpus' lists the names; or give --machine"));
  RIGHTSIZE_TRY(const catalog::Machine* machine, find_machine(catalog, flags.machine));
  return catalog.find_gpu(machine->gpu);
}

// --sessions or --trace as arrivals; null without either.
Result<std::shared_ptr<const sim::Trace>> read_arrivals(const Flags& flags, const JobFlags& job,
                                                        const SpeedInput& input) {
  const bool isl = job.settings.contains("isl"), lengths = isl || job.settings.contains("osl");
  const auto twice = [] {
    return fail(
        bad_input("lengths are given twice").with_hint("leave out --isl and --osl; sessions and traces have them"));
  };
  if (!flags.trace.empty()) {
    if (!flags.sessions.empty() || lengths) return twice();
    Checked<sim::Trace> trace = sim::read_trace_file(flags.trace);
    if (!trace) return fail(trace.error().front());
    auto shared = std::make_shared<const sim::Trace>(*std::move(trace));
    if (shared->has_tokens && sim::mean_rate(shared)) return shared;
    return fail(bad_input(fmt::format("{}: no tokens in and out, or too short to compute a rate", flags.trace)));
  }
  if (flags.sessions.empty()) return nullptr;
  RIGHTSIZE_TRY(const sim::Sessions sessions, sim::parse_sessions(flags.sessions));
  if (!sessions.repeat && lengths) return twice();
  constexpr std::uint64_t kEnough = 8'000;  // enough requests for a mean
  capacity::SessionWish wish{.rate = input.rate, .context = input.model.context, .requests = kEnough};
  if (isl) wish.isl = static_cast<double>(input.job.serve.isl);
  return capacity::session_traffic(sessions, wish);
}

// Without a load, the engine runs its maximum number of concurrent requests.
bool has_implied_load(const Flags& flags, const JobFlags& job_flags, const model::Job& job) {
  if (job.kind != model::JobKind::kServe || !job.serve.max_batch) return false;
  const auto& given = job_flags.settings;
  return given.contains("max-batch") && !given.contains("concurrency") && !given.contains("batch") &&
         flags.rate.empty() && flags.sessions.empty() && flags.trace.empty();
}

// Training that does not fit is sharded, with a note.
void shard(const JobFlags& flags, SpeedInput& input, bool may_add_gpus) {
  if (!shard_if_too_large(flags, input.model, *input.gpu, input.job, may_add_gpus)) return;
  note(sharded_words(input.model, *input.gpu, input.job));
}

memory::Verdict memory_verdict(const SpeedInput& input) {
  const memory::MemoryNeed need = memory::estimate_memory(input.model, input.job, input.gpu);
  return need.max_concurrency == 0 ? memory::Verdict::kNo : memory::fits(need, *input.gpu).verdict;
}

// Copies of a served model may be on different machines; the GPUs of a training job are not.
std::optional<market::GpuQuote> on_demand_price(const market::PriceBook& book, const SpeedInput& input) {
  const model::Parallelism& split = input.job.parallel;
  const int together = input.job.kind == model::JobKind::kServe ? split.tensor * split.pipeline : split.gpus;
  return book.gpu(*input.gpu, catalog::Purchase::kOnDemand, together);
}

// The comparison uses as many GPUs of each type as hold the job.
SweepRow compared_row(const perf::Constants& constants, const market::PriceBook& book, const std::string& value,
                      const SpeedInput& input) {
  SweepRow row{"gpu", value, estimate_speed(constants, input), input.job.parallel.gpus, memory_verdict(input)};
  row.recomputes = input.job.kind == model::JobKind::kTrain && input.job.train.recompute == model::Recompute::kFull;
  const auto price = on_demand_price(book, input);
  const double units = row.estimate ? units_per_second(input, *row.estimate) : 0;
  if (price && units > 0) row.usd_per_million = in_usd_per_gpu_hour(price->rate) / 3600 / units * 1e6;
  return row;
}

// `book`: prices, for a comparison of GPUs.
Checked<std::vector<SweepRow>> run_sweep(const catalog::Catalog& catalog, const perf::Constants& constants,
                                         const Flags& flags, const Sweep& sweep, const SpeedInput& first,
                                         const market::PriceBook* book) {
  std::vector<SweepRow> rows;
  std::optional<QuietNotes> quiet;  // the same as those of the first answer
  if (book == nullptr) quiet.emplace();
  for (const std::string& value : sweep.values) {
    JobFlags job = flags.job;
    (sweep.setting == "gpu" ? job.gpu : job.settings[sweep.setting]) = value;
    if (const auto gpus = take_replica_gpus(job.gpu)) job.settings["gpus"] = std::to_string(*gpus);  // 4xa100
    if (book != nullptr && value == flags.job.gpu) {
      rows.push_back(compared_row(constants, *book, value, first));
      continue;
    }
    RIGHTSIZE_TRY(SpeedInput input, read_input(catalog, constants, flags, job));
    if (book != nullptr) shard(job, input, true);
    rows.push_back(book != nullptr ? compared_row(constants, *book, value, input)
                                   : SweepRow{sweep.setting, value, estimate_speed(constants, input)});
  }
  return rows;
}

Result<TokenRun> run_over_tokens(const Flags& flags, const SpeedInput& input, const SpeedEstimate& estimate,
                                 const market::PriceBook& book) {
  if (input.work.image || estimate.batch)
    return fail(bad_input(fmt::format("--tokens does not apply to {}", input.model.name)).with_hint("leave it out"));
  TokenRun run;
  RIGHTSIZE_TRY(run.tokens, settings::read_as<double>("tokens", flags.tokens));
  const int used = input.job.parallel.gpus;
  run.time = seconds(run.tokens / (units_per_second(input, estimate) * used));
  const perf::Interval interval = estimate.train ? estimate.train->interval : estimate.serve->tpot_interval;
  // For training, the interval is that of the rate, not of the time.
  run.low = estimate.train ? run.time / interval.high : run.time * interval.low;
  run.high = estimate.train ? run.time / interval.low : run.time * interval.high;
  run.gpu_time = gpus(used) * run.time;
  run.price = on_demand_price(book, input);
  return run;
}

// Why a job would run out of memory; empty if it fits. This is only a warning: some published runs are predicted not to
// fit, and their speed is still useful. An engine that does not fit was refused earlier, and one with a full cache
// queues requests.
std::string memory_warning(const SpeedInput& input) {
  const bool engine = input.job.kind == model::JobKind::kServe && input.job.stack != model::Stack::kHf;
  if (engine) return {};
  const memory::MemoryNeed need = memory::estimate_memory(input.model, input.job, input.gpu);
  if (memory::fits(need, *input.gpu).verdict != memory::Verdict::kNo) return {};
  return fmt::format(
      "it would run out of memory: it needs {} on each GPU and {} has {}; 'rightsize memory' shows what frees memory",
      format_bytes(need.device), input.gpu->name, format_bytes(input.gpu->capacity()));
}

// If pure bf16 was assumed, adds the speed in the precision that 'recommend' uses.
void note_precision(const perf::Constants& constants, const Flags& flags, const SpeedInput& input) {
  const model::Job& job = input.job;
  if (job.kind != model::JobKind::kTrain || flags.job.settings.contains("precision") ||
      job.precision != model::Precision::kBf16 || job.train.method != model::Method::kFull)
    return;
  SpeedInput other = input;
  other.job.precision = job.parallel.zero > 0 ? model::Precision::kMixedBf16 : model::Precision::kAmpBf16;
  const Result<SpeedEstimate> estimate = estimate_speed(constants, other);
  if (!estimate) return;
  note(fmt::format("pure bf16 is assumed; --precision {}, which 'recommend' plans with, runs at {} {}/s per GPU",
                   model::name_of(other.job.precision), format_number(units_per_second(other, *estimate)),
                   input.work.image ? "samples" : "tok"));
}

// Rows with several copies of the model are compared under the same load: without one, as many requests as keep all
// GPUs busy.
std::optional<int> load_of_sweep(const Flags& flags, const Sweep& sweep, const SpeedInput& input) {
  constexpr int kRequestsPerGpu = 16;
  const model::Parallelism& split = input.job.parallel;
  int most = split.gpus > split.tensor * split.pipeline ? split.gpus : 1;
  for (const std::string& value : sweep.values)
    if (sweep.setting == "gpu") most = std::max(most, catalog::split_gpu_count(value).count.value_or(1));
  for (const char* load : {"concurrency", "batch", "max-batch"})
    if (flags.job.settings.contains(load) || sweep.setting == load) return std::nullopt;
  const bool engine = input.job.kind == model::JobKind::kServe && !perf::serves_batches(input.work);
  if (most == 1 || !engine || !flags.rate.empty() || !flags.sessions.empty() || !flags.trace.empty())
    return std::nullopt;
  return kRequestsPerGpu * most;
}

// Settings of other jobs must not be ignored.
Result<> check_rl_flags(const Flags& flags) {
  const std::pair<const char*, bool> others[] = {
      {"machine", !flags.machine.empty()},   {"network", !flags.network.empty()}, {"rate", !flags.rate.empty()},
      {"sessions", !flags.sessions.empty()}, {"trace", !flags.trace.empty()},     {"tokens", !flags.tokens.empty()},
      {"sweep", !flags.sweep.empty()},       {"roofline", flags.roofline}};
  for (const auto& [name, given] : others)
    if (given) return fail(bad_input(fmt::format("--{} does not apply to --job rl", name)).with_hint("leave it out"));
  return {};
}

Checked<Outcome> run_estimate(Flags flags) {
  std::optional<Sweep> sweep;
  if (!flags.sweep.empty()) {
    RIGHTSIZE_TRY(sweep, parse_sweep(flags.sweep));
  }
  const bool compares = sweep && sweep->setting == "gpu", priced = compares || !flags.tokens.empty();
  RIGHTSIZE_TRY(catalog::Catalog hardware, priced ? open_catalog(flags.catalog) : open_hardware(flags.catalog));
  RIGHTSIZE_TRY(perf::Constants known, open_constants(flags.catalog));
  const Facts facts{std::move(hardware), std::move(known)};
  const auto& [catalog, constants] = facts;
  if (asks_for_rl(flags.job, flags.rl)) {
    if (Result<> checked = check_rl_flags(flags); !checked) return fail(checked.error());
    RIGHTSIZE_TRY(const Electricity electricity, read_electricity(flags.electricity));
    return estimate_rl(flags.job, flags.rl, facts, flags.power_cap, electricity);
  }
  RIGHTSIZE_TRY(SpeedInput input, read_input(catalog, constants, flags, flags.job));
  if (input.job.parallel.tensor > 1 && !flags.job.settings.contains("tp") && !input.job.serve.disaggregated)
    note(fmt::format("{} and the KV cache of its requests do not fit one {}: split over {} GPUs (--tp {})",
                     input.model.name, input.gpu->name, input.job.parallel.tensor, input.job.parallel.tensor));
  if (const auto load = sweep ? load_of_sweep(flags, *sweep, input) : std::nullopt) {
    flags.job.settings["concurrency"] = std::to_string(*load);
    RIGHTSIZE_TRY(input, read_input(catalog, constants, flags, flags.job));
    note(fmt::format("assumed: {} requests in flight in each row; --concurrency sets another load", *load));
  }
  if (const auto wide = model::default_precision(input.model, input.job.stack);
      !flags.job.settings.contains("precision") && input.job.kind == model::JobKind::kServe &&
      wide != input.job.precision && input.job.precision != model::Precision::kFp16)
    note(fmt::format("assumed: --precision {}; in {}, {} does not fit", model::name_of(input.job.precision),
                     model::name_of(wide), input.model.name));
  shard(flags.job, input, compares);
  if (compares && input.job.kind == model::JobKind::kTrain && input.job.parallel.gpus == 1)
    note("training on one GPU is assumed; --gpus N is for more, --job serve for serving");
  note_lengths(flags.job);
  if (has_implied_load(flags, flags.job, input.job))
    note(
        fmt::format("{} requests in flight are assumed, as many as --max-batch allows; --concurrency sets another load",
                    format_count(static_cast<double>(*input.job.serve.max_batch))));
  note_precision(constants, flags, input);
  Result<SpeedEstimate> estimate = estimate_speed(constants, input);
  const bool decodes = input.job.kind == model::JobKind::kServe && input.model.kind == model::ModelKind::kDecoder;
  if (const auto format = !estimate && decodes ? smaller_format(input.model, input.job, *input.gpu) : std::nullopt)
    estimate.error().hints = {fmt::format("use --precision {}, which fits, or a larger GPU", model::name_of(*format))};
  SpeedAnswer answer{input, estimate};
  RIGHTSIZE_TRY(answer.electricity, read_electricity(flags.electricity));
  std::optional<market::PriceBook> book;
  if (priced) book.emplace(catalog);
  if (!estimate) return Outcome{report_of(answer), kNoFeasibleAnswer};
  answer.memory_warning = memory_warning(input);
  if (sweep) {
    RIGHTSIZE_TRY(answer.sweep, run_sweep(catalog, constants, flags, *sweep, input, compares ? &*book : nullptr));
  }
  if (!flags.tokens.empty()) {
    RIGHTSIZE_TRY(answer.run, run_over_tokens(flags, input, *estimate, *book));
  }
  if (flags.roofline) answer.roofline = roofline_of(input);
  answer.per = flags.per;
  return Outcome{report_of(answer)};
}

}  // namespace

Result<> read_sessions(const perf::Constants& constants, const Flags& flags, const JobFlags& job, SpeedInput& input) {
  RIGHTSIZE_TRY(const std::shared_ptr<const sim::Trace> trace, read_arrivals(flags, job, input));
  if (!trace) return {};
  model::ServeSettings& serve = input.job.serve;
  if (input.job.kind != model::JobKind::kServe || perf::serves_batches(input.work))
    return fail(
        bad_input("--sessions and --trace apply to language models that are served").with_hint("add --job serve"));
  if (trace->prompts && job.settings.contains("prefix-hit"))
    return fail(bad_input("--prefix-hit and traffic that repeats are both given").with_hint("use one of the two"));
  const sim::RequestShape mean = sim::mean_shape(trace, {});
  serve.isl = std::max<std::int64_t>(1, std::llround(mean.size));
  serve.osl = std::max<std::int64_t>(1, std::llround(mean.output));
  if (!(input.rate > RequestsPerSecond{})) input.rate = *sim::mean_rate(trace);
  if (!trace->prompts) return {};
  const sim::ArrivalProcess at_rate = sim::scaled(trace, input.rate / *sim::mean_rate(trace));
  const int replicas = input.job.parallel.gpus / std::max(1, input.job.parallel.tensor * input.job.parallel.pipeline);
  RIGHTSIZE_TRY(const double hit,
                capacity::predicted_hit({constants, input.model, input.work}, input.job, *input.gpu, input.speed,
                                        input.cluster, std::get<std::shared_ptr<const sim::Trace>>(at_rate), replicas,
                                        capacity::parse_routing(flags.routing)));
  serve.prefix_hit = std::min(hit, 0.9999);
  return {};
}

Result<> read_load(const Flags& flags, const JobFlags& job, SpeedInput& input) {
  const bool training = input.job.kind == model::JobKind::kTrain;
  if (training && !flags.rate.empty())
    return fail(bad_input("--rate applies to serving, not to training").with_hint("add --job serve"));
  if (!flags.rate.empty()) {
    RIGHTSIZE_TRY(input.rate, settings::read_as<RequestsPerSecond>("rate", flags.rate));
  }
  if (has_implied_load(flags, job, input.job)) input.job.serve.concurrency = *input.job.serve.max_batch;
  RIGHTSIZE_TRY(const bool slot_wait, settings::read_as<bool>("slot-wait", flags.slot_wait));
  if (slot_wait) {
    model::ServeSettings& serve = input.job.serve;
    serve.max_batch = std::min(serve.concurrency, serve.max_batch.value_or(serve.concurrency));
    serve.concurrency += 1;
  }
  return {};
}

Checked<SpeedInput> read_input(const catalog::Catalog& catalog, const perf::Constants& constants, const Flags& flags,
                               const JobFlags& job) {
  RIGHTSIZE_TRY(ModelAndJob read, read_job(job));
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, find_gpu(catalog, flags, job.gpu));
  SpeedInput input;
  input.model = std::move(read.model);
  input.gpu = gpu;
  input.work = perf::work_of(input.model);
  use_formats_of(*gpu, job, read.job);
  split_if_too_large(job, input.model, *gpu, read.job, true);
  narrow_if_too_large(job, input.model, *gpu, read.job);
  input.job = perf::fitted_to(input.work, read.job);
  input.speed = perf::gpu_speed(constants, *gpu);
  if (Result<> cluster = read_cluster(catalog, flags, input); !cluster) return fail(cluster.error());
  RIGHTSIZE_TRY(input.find_power_cap, read_power_cap(flags.power_cap, *gpu, input.speed.power));
  if (Result<> load = read_load(flags, job, input); !load) return fail(load.error());
  if (Result<> sessions = read_sessions(constants, flags, job, input); !sessions) return fail(sessions.error());
  return input;
}

double units_per_second(const SpeedInput& input, const SpeedEstimate& estimate) {
  if (estimate.serve) return in_tokens_per_s(estimate.serve->output_per_gpu);
  if (estimate.batch) return estimate.batch->samples_per_second;
  return input.work.image ? estimate.train->samples_per_second_per_gpu
                          : in_tokens_per_s(estimate.train->tokens_per_gpu);
}

Run add_estimate(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_job_flags(command, flags->job);
  add_rl_flags(command, flags->rl);
  for (const char* name :
       {"machine", "network", "power-cap", "rate", "sessions", "trace", "routing", "slot-wait", "tokens"}) {
    command.add(name, [flags, name](const settings::Value& value) -> Result<> {
      set(*flags, name, value.text);
      return {};
    });
  }
  command.find("--rate")->meaning("arrival rate of requests, e.g. 20/s, instead of --concurrency requests in flight");
  command.find("--tokens")->meaning("tokens to train on, or to generate: adds time, GPU-hours and cost");
  add_electricity_flags(command, flags->electricity, "estimated");
  command.add("sweep", flags->sweep);
  command.add("roofline", flags->roofline);
  command.add("per", flags->per);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_estimate(*flags); };
}

}  // namespace rightsize::app
