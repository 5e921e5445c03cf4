#include "rightsize/estimate/report.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "base/parse_units.h"
#include "catalog/words.h"
#include "memory/kv_cache.h"
#include "perf/benchmark.h"

namespace rightsize::app {
namespace {

using perf::BatchEstimate;
using perf::ServeEstimate;
using perf::TrainEstimate;
// "; extrapolated from h100-sxm; no benchmark for this GPU"; empty if there is one.
std::string extrapolation(perf::Basis basis, std::string_view relative) {
  if (perf::has_benchmark(basis, relative)) return {};
  return fmt::format("{}; no benchmark for this GPU",
                     relative.empty() ? "" : fmt::format("; extrapolated from {}", relative));
}

std::string basis_sentence(perf::Basis basis, std::string_view relative, const SpeedInput& input) {
  const std::string_view stack = model::name_of(input.job.stack);
  if (!perf::has_benchmark(basis, relative) && !relative.empty())
    return fmt::format("Basis: {}{}.", perf::name_of(basis), extrapolation(basis, relative));
  switch (basis) {
    case perf::Basis::kMeasured:
      return fmt::format("Basis: measured; {} on {} is among the runs the model was fitted on.", stack,
                         input.gpu->name);
    case perf::Basis::kCalibrated:
      return fmt::format("Basis: calibrated with your own measurements of {} on {}.", stack, input.gpu->name);
    case perf::Basis::kTransferred:
      return fmt::format("Basis: transferred; {} on {} is estimated from measurements of similar GPUs and models.",
                         stack, input.gpu->name);
    case perf::Basis::kSpecification:
      return fmt::format("Basis: specification; for {} only the data sheet is known.", input.gpu->name);
  }
  return {};
}

void add_notes(report::Report& report, const std::vector<std::string>& notes, std::string text) {
  for (const std::string& note : notes) text += "\nnote: " + note;
  report.say(std::move(text));
}

// "Training ... on h100-sxm", "Training ... on 8 GPUs, ZeRO 3 (h100-sxm)".
std::string subject(const SpeedInput& input, const model::Job& job) {
  return describe_job(input.model, job) +
         fmt::format(fmt::runtime(job.parallel.gpus > 1 ? " ({})" : " on {}"), input.gpu->name);
}

// "1,234", or three digits below a hundred.
std::string rate(double value) { return value >= 100 ? format_count(std::round(value)) : format_number(value); }

void report_train(report::Report& report, const SpeedInput& input, const TrainEstimate& e) {
  const bool samples = input.work.image;
  const double per_gpu = samples ? e.samples_per_second_per_gpu : in_tokens_per_s(e.tokens_per_gpu);
  std::string text =
      fmt::format("{} runs at {} {}/s per GPU (80 % interval {} to {}), bound by {}. A step takes {}",
                  subject(input, input.job), rate(per_gpu), samples ? "samples" : "tok", rate(per_gpu * e.interval.low),
                  rate(per_gpu * e.interval.high), perf::name_of(e.bound), format_duration(e.step));
  text += e.mfu > 0 ? fmt::format(" at {} MFU.", format_percent(Ratio::fraction(e.mfu))) : ".";
  report.say(std::move(text));
  report.blocks.emplace_back(parts_table(e.parts));
  add_notes(report, texts_of(e.notes), basis_sentence(e.basis, e.relative, input));
}

std::string latency_range(Seconds value, const perf::Interval& interval) {
  return fmt::format("{} ({} to {})", format_duration(value), format_duration(value * interval.low),
                     format_duration(value * interval.high));
}

std::string open_loop_sentence(const SpeedInput& input, const ServeEstimate& e) {
  if (!e.stable) {
    return fmt::format(" {} requests/s exceed the capacity of {} requests/s (load {}), so the queue keeps growing.",
                       format_number(in_requests_per_s(input.rate)),
                       format_number(in_requests_per_s(input.rate) / e.utilization),
                       format_percent(Ratio::fraction(e.utilization)));
  }
  return fmt::format(
      " At {} requests/s, about {} run at once: {} of its capacity (queueing formula, Poisson "
      "arrivals).",
      format_number(in_requests_per_s(input.rate)), format_number(e.running),
      format_percent(Ratio::fraction(e.utilization)));
}

// "Basis: transferred; vllm was fitted on measured runs, but not on l40s and not with models of the family qwen3_moe."
std::string serving_basis(const SpeedInput& input, const ServeEstimate& e) {
  if (e.unmeasured.empty()) return basis_sentence(e.basis, e.relative, input);
  std::string missing;
  auto add = [&](const std::string& what) { missing += (missing.empty() ? "" : " and ") + ("not " + what); };
  for (const perf::Unmeasured what : e.unmeasured) {
    if (what == perf::Unmeasured::kGpu) add("on " + input.gpu->name);
    if (what == perf::Unmeasured::kFamily) add("with models of the family " + input.model.family);
    if (what == perf::Unmeasured::kFormat) add("in " + std::string(model::name_of(input.job.precision)));
    if (what == perf::Unmeasured::kSpread) add("enough with attention data parallelism or disaggregation");
    if (what == perf::Unmeasured::kLoad) add("under this load");
  }
  return fmt::format("Basis: {}; {} was fitted on measured runs, but {}{}.", perf::name_of(e.basis),
                     model::name_of(input.job.stack), missing, extrapolation(e.basis, e.relative));
}

// Embeddings and scores take one pass over the text, without output tokens after the first.
bool is_one_pass(const SpeedInput& input) { return input.job.serve.osl <= 1 && !input.work.encoder_decoder; }

void report_serve(report::Report& report, const SpeedInput& input, const ServeEstimate& e) {
  model::Job job = input.job;
  const double replicas = static_cast<double>(job.parallel.gpus) / (job.parallel.tensor * job.parallel.pipeline);
  if (input.rate > RequestsPerSecond{}) job.serve.concurrency = std::lround(e.running * replicas);
  if (job.stack == model::Stack::kHf) job.serve.concurrency = std::max(job.serve.concurrency, job.batch);
  const bool one_pass = is_one_pass(input);
  const double texts = e.requests_per_second / job.parallel.gpus;
  std::string text =
      one_pass ? fmt::format("{}: {} texts/s per GPU, {} tok/s; a text takes {} (80 % interval), bound by {}.",
                             subject(input, job), rate(texts), rate(texts * static_cast<double>(job.serve.isl)),
                             latency_range(e.ttft, e.ttft_interval), perf::name_of(e.bound))
               : fmt::format("{}: TTFT {}, TPOT {} (80 % intervals), {} output tok/s per GPU, bound by {}.",
                             subject(input, job), latency_range(e.ttft, e.ttft_interval),
                             latency_range(e.tpot, e.tpot_interval), rate(in_tokens_per_s(e.output_per_gpu)),
                             perf::name_of(e.bound));
  if (input.rate > RequestsPerSecond{}) text += open_loop_sentence(input, e);
  if (job.serve.disaggregated)
    text += fmt::format(" A prompt's KV cache takes {} to its decode worker.", format_duration(e.transfer));
  if (input.work.audio_seconds > 0)
    text += fmt::format(" That is {} hours of audio per GPU-hour.",
                        rate(e.requests_per_second / job.parallel.gpus * input.work.audio_seconds));
  const double most = std::floor(e.max_concurrency);
  const std::string room = most == 1 ? "one such request" : fmt::format("{} such requests", format_count(most));
  text += input.work.encoder_decoder
              ? fmt::format(" There is room for {}.", room)
              : fmt::format(" The KV cache ({}) holds {} at {} full length.",
                            model::name_of(memory::kv_format(job, input.work.checkpoint, input.speed.has_fp4)), room,
                            most == 1 ? "its" : "their");
  report.say(std::move(text));
  if (!one_pass) report.show("One output token", parts_table(e.parts));
  report.show("Prefill of one prompt", parts_table(e.prefill_parts));
  add_notes(report, texts_of(e.notes), serving_basis(input, e));
}

// "One pass of bert-base in bf16 over a batch of 32 x 128 tokens", "A batch of 4 images of sdxl-unet ...".
std::string batch_subject(const SpeedInput& input) {
  if (input.model.pipeline) return describe_job(input.model, input.job) + ",";
  return fmt::format(
      "One pass of {} in {} over a batch of {}{}", input.model.name, model::name_of(input.job.precision),
      input.job.batch,
      input.work.image ? "" : fmt::format(" x {} tokens", format_count(static_cast<double>(input.job.sequence))));
}

// "0.29 images/s", "2.2 videos/h per GPU": per hour if the rate per second is small.
std::string batch_rate(const SpeedInput& input, double per_second) {
  constexpr double kSlow = 0.05;
  const bool video = input.model.pipeline && input.model.pipeline->frames > 0, slow = per_second < kSlow;
  const bool copies = input.job.parallel.gpus > 1 && input.model.pipeline;
  return fmt::format("{} {}/{}{}", slow ? format_number(per_second * 3600, 3) : rate(per_second),
                     video                  ? "videos"
                     : input.model.pipeline ? "images"
                                            : "samples",
                     slow ? "h" : "s", copies ? " on each GPU" : "");
}

void report_batch(report::Report& report, const SpeedInput& input, const BatchEstimate& e) {
  report.say(fmt::format("{} takes {} on {} (80 % interval {} to {}): {}, bound by {}.", batch_subject(input),
                         format_duration(e.batch), input.gpu->name, format_duration(e.batch * e.interval.low),
                         format_duration(e.batch * e.interval.high), batch_rate(input, e.samples_per_second),
                         perf::name_of(e.bound)));
  report.blocks.emplace_back(parts_table(e.parts));
  add_notes(report, texts_of(e.notes), basis_sentence(e.basis, e.relative, input));
}

void report_energy(report::Report& report, const SpeedAnswer& answer, const SpeedEstimate& estimate) {
  const SpeedInput& input = answer.input;
  std::optional<JobEnergy> energy = energy_of(input, estimate);
  if (!energy) return;
  energy->electricity = answer.electricity;
  const std::string_view unit = !estimate.serve || energy->unit != std::string_view("token") ? energy->unit
                                : is_one_pass(input)                                         ? "text"
                                                                                             : "output token";
  report.say(energy_sentence(*energy, unit, input.find_power_cap));
}

// "15T", "1.5B", "20,000".
std::string short_count(double count) {
  constexpr std::pair<double, char> kUnits[] = {{1e12, 'T'}, {1e9, 'B'}, {1e6, 'M'}};
  for (const auto& [size, letter] : kUnits) {
    if (count >= size) return format_number(count / size) + letter;
  }
  return format_count(count);
}

// "1T tokens take 23 d 4 h (80 % interval 18 d to 30 d) on 1,024 GPUs: 570,000 GPU-hours, $1.3M at $2.29 per GPU-hour."
void report_run(report::Report& report, const SpeedInput& input, const TokenRun& run) {
  const int gpus = input.job.parallel.gpus;
  std::string text = fmt::format("{} {}tokens take {} (80 % interval {} to {}) on {} GPU{}: {} GPU-hours",
                                 short_count(run.tokens), input.job.kind == model::JobKind::kServe ? "output " : "",
                                 format_duration(run.time), format_duration(run.low), format_duration(run.high),
                                 format_count(gpus), gpus == 1 ? "" : "s", rate(in_gpu_hours(run.gpu_time)));
  if (run.price)
    text += fmt::format(", {} at {} per GPU-hour ({})", format_usd(run.price->rate * run.gpu_time),
                        format_usd_per_hour(run.price->rate), run.price->source());
  report.say(text + (run.price ? "." : "; no price for this GPU is known."));
}

// " In one hour: 673 images.", " In one day on 2 GPUs: 155,520,000 output tokens, 607,500 requests."
std::string amount_sentence(const SpeedInput& input, const SpeedEstimate& e, const std::string& per) {
  const double time = in_seconds(*parse_duration("1 " + per)), gpus = input.job.parallel.gpus;
  std::string text = fmt::format(" In one {}{}: ", per, gpus > 1 ? fmt::format(" on {} GPUs", gpus) : "");
  if (e.serve && !is_one_pass(input))
    text += rate(in_tokens_per_s(e.serve->output_per_gpu) * gpus * time) + " output tokens, ";
  if (e.serve)
    return text +
           fmt::format("{} {}.", rate(e.serve->requests_per_second * time), is_one_pass(input) ? "texts" : "requests");
  const bool samples = e.batch || input.work.image;
  const double each = e.batch   ? e.batch->samples_per_second * (input.model.pipeline ? gpus : 1)
                      : samples ? e.train->samples_per_second_per_gpu * gpus
                                : in_tokens_per_s(e.train->tokens_per_gpu) * gpus;
  const bool video = e.batch && input.model.pipeline && input.model.pipeline->frames > 0;
  return text + fmt::format("{} {}.", rate(each * time),
                            video                             ? "videos"
                            : !samples                        ? "tokens"
                            : e.batch && input.model.pipeline ? "images"
                                                              : "samples");
}

// "h100-sxm is 2.1 times as fast as a100-80gb-sxm. Per 1M output tokens: h100-sxm $0.40 ($2,336/month), a100-80gb-sxm
// $0.60 ($1,500/month). ": the fastest GPU of a sweep against each of the others, and what each costs, cheapest first.
std::string comparison(const SpeedInput& input, const std::vector<SweepRow>& sweep) {
  struct Cost {
    double per_million = 0, a_month = 0, units = 0;  // units per second
    std::string name;
  };
  std::vector<std::pair<double, std::string>> speeds;
  std::vector<Cost> costs;
  std::string small;
  for (const SweepRow& row : sweep) {
    if (row.setting == "gpu" && row.memory == memory::Verdict::kNo) small += row.value + " has too little memory. ";
    if (!row.estimate || row.setting != "gpu" || row.memory == memory::Verdict::kNo) continue;
    const SpeedEstimate& e = *row.estimate;
    const double gpus = row.gpus.value_or(1);
    speeds.emplace_back(
        e.serve   ? e.serve->requests_per_second
        : e.train ? e.train->samples_per_second_per_gpu * gpus
                  : e.batch->samples_per_second * gpus,
        catalog::split_gpu_count(row.value).count || gpus == 1 ? row.value : fmt::format("{} x {}", gpus, row.value));
    if (!row.usd_per_million) continue;
    const double units = units_per_second(input, e) * gpus;
    costs.push_back(
        {*row.usd_per_million, *row.usd_per_million / 1e6 * units * in_seconds(kMonth), units, speeds.back().second});
  }
  std::ranges::sort(speeds, std::greater{});
  std::ranges::sort(costs, {}, &Cost::per_million);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < speeds.size() && speeds[i].first > 0; ++i) {
    const std::string times = fmt::format("{:.2g}", speeds.front().first / speeds[i].first);
    others.push_back(fmt::format("{} as fast as {}", times == "1" ? "about" : times + " times", speeds[i].second));
  }
  if (others.empty()) return small;
  const bool fit = std::ranges::all_of(sweep, [](const auto& row) { return row.memory == memory::Verdict::kFits; });
  if (fit) small = "Each has enough memory. ";
  const bool samples = input.work.image || !sweep.front().estimate || sweep.front().estimate->batch;
  const char* unit = samples ? "samples" : input.job.kind == model::JobKind::kServe ? "output tokens" : "tokens";
  std::string text = fmt::format("{} is {}. {}", speeds.front().second, fmt::join(others, ", "), small);
  if (costs.size() < 2) return text;
  const auto words = [](const Cost& c) {
    return fmt::format("{} {} ({}/month)", c.name, format_usd(usd(c.per_million)), format_usd(usd(c.a_month)));
  };
  text += fmt::format("Per 1M {}: {}. ", unit, fmt::join(list_of(costs, words), ", "));
  // Machines cost the same whether they are busy or not, so those with the lower price win below their capacity.
  const Cost& lowest = *std::ranges::min_element(costs, {}, &Cost::a_month);
  if (lowest.name == costs.front().name || input.job.kind != model::JobKind::kServe) return text;
  return text + fmt::format("Up to {} {}/s {} costs less, above that {}. ", format_count(std::floor(lowest.units)),
                            unit, lowest.name, costs.front().name);
}

void report_infeasible(report::Report& report, const SpeedInput& input, const Error& reason) {
  std::string text = fmt::format("{} cannot run: {}.", subject(input, input.job), reason.message);
  for (const std::string& hint : reason.hints) text += "\nhint: " + hint;
  report.say(std::move(text));
}

}  // namespace

std::vector<std::string> texts_of(const perf::Notes& notes) {
  return list_of(notes, [](const perf::Note& note) { return perf::describe(note); });
}

report::Report report_of(const SpeedAnswer& answer) {
  const auto& [input, estimate, memory_warning, sweep, roofline, run, electricity, per] = answer;
  report::Report report{.title = "Speed", .document = document_of(answer)};
  if (!estimate) report_infeasible(report, input, estimate.error());
  if (estimate && estimate->train) report_train(report, input, *estimate->train);
  if (estimate && estimate->serve) report_serve(report, input, *estimate->serve);
  if (estimate && estimate->batch) report_batch(report, input, *estimate->batch);
  // In the first paragraph, which is all that --quiet shows.
  std::string& first = std::get<report::Paragraph>(report.blocks.front()).text;
  if (estimate && !per.empty()) first += amount_sentence(input, *estimate, per);
  if (run && !per.empty() && input.job.kind == model::JobKind::kTrain)
    first += fmt::format(" That is {} runs of {} tokens.", rate(*parse_duration("1 " + per) / run->time),
                         short_count(run->tokens));
  first = comparison(input, sweep) + first;
  if (!memory_warning.empty()) {
    // The sentence continues with the job ("Serving ..."), unless it begins with a name.
    if (first.size() > 1 && std::islower(static_cast<unsigned char>(first[1])) != 0)
      first[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(first[0])));
    first = "warning: " + memory_warning + ". With enough memory: " + first;
  }
  if (run) report_run(report, input, *run);
  if (estimate) report_energy(report, answer, *estimate);
  if (!sweep.empty()) {
    const std::string& setting = sweep.front().setting;
    report.show(setting == "gpu" ? "By GPU" : fmt::format("By {}", setting), sweep_table(sweep));
  }
  if (roofline) add_roofline(report, input, *roofline);
  return report;
}

}  // namespace rightsize::app
