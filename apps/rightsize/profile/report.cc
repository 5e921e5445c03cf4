#include "rightsize/profile/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "market/offers.h"

namespace rightsize::app {
namespace {

using diagnose::Diagnosis;
using diagnose::GpuProfile;
using diagnose::Metric;
using diagnose::Projection;
using report::Align;
using report::Json;

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

std::string title_of(const GpuProfile& gpu) {
  std::string title = fmt::format("GPU {}", gpu.device.index);
  if (!gpu.device.host.empty()) title = gpu.device.host + " " + title;
  if (!gpu.device.mig_id.empty()) title += fmt::format(" instance {}", gpu.device.mig_id);
  const std::string name = !gpu.device.name.empty() ? gpu.device.name : gpu.gpu != nullptr ? gpu.gpu->name : "";
  return name.empty() ? title : fmt::format("{} ({})", title, name);
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + ("  " + line);
  return text;
}

struct ShownMetric {
  Metric metric;
  const char* title;
  std::string (*show)(double);
};

std::string show_share(double v) { return percent(v); }
std::string show_rate(double v) { return format_bandwidth(bytes_per_s(v)); }

constexpr ShownMetric kShown[] = {
    {Metric::kGpuUtil, "utilization (nvidia-smi)", show_share},
    {Metric::kGraphicsActive, "engine active", show_share},
    {Metric::kSmActive, "SM active", show_share},
    {Metric::kSmOccupancy, "SM occupancy", show_share},
    {Metric::kTensorActive, "tensor active", show_share},
    {Metric::kDramActive, "DRAM active", show_share},
    {Metric::kFp32Active, "fp32 active", show_share},
    {Metric::kPcieRx, "PCIe in", show_rate},
    {Metric::kPcieTx, "PCIe out", show_rate},
    {Metric::kNvlinkRx, "NVLink in", show_rate},
    {Metric::kPower, "power", [](double v) { return format_power(watts(v)); }},
    {Metric::kSmClock, "SM clock", [](double v) { return fmt::format("{:.0f} MHz", v / 1e6); }},
    {Metric::kTemperature, "temperature", [](double v) { return fmt::format("{:.0f} C", v); }},
    {Metric::kMemoryUsed, "memory used", [](double v) { return format_bytes(bytes(v)); }},
};

report::Table metrics_table(const GpuProfile& gpu) {
  report::Table table;
  table.columns = {{"metric", "metric", Align::kLeft},
                   {"mean", "mean", Align::kRight},
                   {"p50", "p50", Align::kRight},
                   {"p95", "p95", Align::kRight},
                   {"max", "max", Align::kRight}};
  for (const ShownMetric& shown : kShown) {
    const auto& statistics = gpu.whole.of(shown.metric);
    if (!statistics || (shown.metric == Metric::kNvlinkRx && statistics->max == 0)) continue;
    auto cell = [&](double v) { return report::number_cell(shown.show(v), v); };
    table.rows.push_back({report::text_cell(shown.title), cell(statistics->mean), cell(statistics->p50),
                          cell(statistics->p95), cell(statistics->max)});
  }
  return table;
}

report::Table phases_table(const GpuProfile& gpu) {
  report::Table table;
  table.title = "Phases";
  table.most_shown = 12;
  table.columns = {{"phase", "phase", Align::kLeft},
                   {"from", "begin_seconds", Align::kRight},
                   {"to", "end_seconds", Align::kRight},
                   {"active", "activity", Align::kRight}};
  for (const diagnose::Phase& phase : gpu.phases) {
    table.rows.push_back(
        {report::text_cell(name_of(phase.kind)),
         report::number_cell(fmt::format("{:.1f} s", in_seconds(phase.begin)), in_seconds(phase.begin)),
         report::number_cell(fmt::format("{:.1f} s", in_seconds(phase.end)), in_seconds(phase.end)),
         report::number_cell(percent(phase.activity), phase.activity)});
  }
  return table;
}

report::StackedBar shares_bar(const diagnose::TimeShares& shares) {
  report::StackedBar bar;
  bar.title = "Where the time goes";
  auto add = [&](const char* label, double share) {
    if (share >= 0.005) bar.segments.push_back({label, percent(share), share});
  };
  add("arithmetic", shares.compute);
  add("memory", shares.memory);
  add("copies", shares.transfer);
  add("launches", shares.launch);
  add("stalls", shares.stall);
  add("waiting", shares.wait);
  return bar;
}

std::string speed_text(const Projection& projection) { return fmt::format("{:.2f}x", projection.speed.likely); }

// Whose price it is.
std::string where(const Projection& p) {
  if (!p.price) return "";
  if (p.price->is_own()) return p.price->source();
  return p.price->offer->machine->provider + " " + p.price->offer->machine->instance;
}

report::Table projection_table(const std::vector<Projection>& projections) {
  report::Table table;
  table.title = "The same work elsewhere";
  table.most_shown = 10;
  table.columns = {{"GPU", "gpu", Align::kLeft},
                   {"speed", "speed", Align::kRight},
                   {"80 % interval", "speed_low", Align::kRight},
                   {"basis", "basis", Align::kLeft, 0, true},
                   {"busy", "busy", Align::kRight, 0, true},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"cost", "cost_ratio", Align::kRight},
                   {"cheapest at", "offer", Align::kLeft}};
  for (const Projection& p : projections) {
    if (!p.fits) continue;
    table.rows.push_back(
        {report::text_cell(p.gpu->name), report::number_cell(speed_text(p), p.speed.likely),
         report::number_cell(fmt::format("{:.2f}-{:.2f}x", p.speed.low, p.speed.high), p.speed.low),
         report::text_cell(perf::name_of(p.speed.basis)), report::number_cell(percent(p.speed.busy), p.speed.busy),
         p.price ? report::number_cell(format_usd_per_hour(p.price->rate), in_usd_per_gpu_hour(p.price->rate))
                 : report::unknown_cell(),
         p.cost ? report::number_cell(percent(*p.cost), *p.cost) : report::unknown_cell(),
         report::text_cell(where(p))});
  }
  return table;
}

std::string offer_text(const Projection& p) {
  const std::string rate = format_usd_per_hour(p.price->rate);
  if (p.price->is_own()) return fmt::format("at your price of {}/GPU-h", rate);
  const catalog::Machine& machine = *p.price->offer->machine;
  return fmt::format("{} at {}, on-demand, {}/GPU-h", machine.instance, machine.provider, rate);
}

// The sentences the profile ends in: the least cost, and the least cost without losing speed.
std::string best_elsewhere(const std::vector<Projection>& projections, const GpuProfile& gpu) {
  const Projection* cheapest = nullptr;
  const Projection* no_slower = nullptr;
  for (const Projection& p : projections) {
    if (!p.fits || !p.cost) continue;
    if (cheapest == nullptr) cheapest = &p;
    if (no_slower == nullptr && p.speed.likely >= 0.95) no_slower = &p;
  }
  if (cheapest == nullptr) return "No other GPU of the catalogue with a price holds this much memory.";
  if (*cheapest->cost >= 0.97) {
    return fmt::format("No other GPU of the catalogue does this work for less than {}.", gpu.gpu->name);
  }
  std::string text = fmt::format("On {1} it would run {0} as fast at {2} of the cost ({3}).", speed_text(*cheapest),
                                 cheapest->gpu->name, percent(*cheapest->cost), offer_text(*cheapest));
  if (no_slower != nullptr && no_slower != cheapest && *no_slower->cost < 0.97) {
    text += fmt::format(" Without losing speed: {} at {} ({}).", no_slower->gpu->name, percent(*no_slower->cost),
                        offer_text(*no_slower));
  }
  return text;
}

Json metrics_json(const diagnose::Summary& summary) {
  Json metrics = Json::object();
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const auto& s = summary.metrics[i];
    if (!s) continue;
    metrics[std::string(telemetry::name_of(static_cast<Metric>(i)))] = {{"mean", report::json_number(s->mean)},
                                                                        {"p50", report::json_number(s->p50)},
                                                                        {"p95", report::json_number(s->p95)},
                                                                        {"max", report::json_number(s->max)}};
  }
  return metrics;
}

Json phases_json(const GpuProfile& gpu) {
  Json phases = Json::array();
  for (const diagnose::Phase& phase : gpu.phases) {
    phases.push_back({{"phase", name_of(phase.kind)},
                      {"begin_seconds", report::json_number(in_seconds(phase.begin))},
                      {"end_seconds", report::json_number(in_seconds(phase.end))},
                      {"activity", report::json_number(phase.activity)}});
  }
  return phases;
}

Json roofline_json(const diagnose::Roofline& roofline) {
  return {{"achieved_flops_per_second", report::json_number(roofline.achieved, in_flop_per_s)},
          {"bytes_per_second", report::json_number(roofline.traffic, in_bytes_per_s)},
          {"intensity_flops_per_byte", report::json_number(roofline.intensity)},
          {"ridge_flops_per_byte", report::json_number(roofline.ridge)},
          {"of_limit", report::json_number(roofline.of_limit)}};
}

Json projections_json(const std::vector<Projection>& projections) {
  Json all = Json::array();
  for (const Projection& p : projections) {
    const market::Offer* offer = p.price && p.price->offer ? &*p.price->offer : nullptr;
    all.push_back(
        {{"gpu", p.gpu->name},
         {"speed", report::json_number(p.speed.likely)},
         {"low", report::json_number(p.speed.low)},
         {"high", report::json_number(p.speed.high)},
         {"busy", report::json_number(p.speed.busy)},
         {"basis", perf::name_of(p.speed.basis)},
         {"fits", p.fits},
         {"usd_per_gpu_hour", p.price ? report::json_number(in_usd_per_gpu_hour(p.price->rate)) : Json(nullptr)},
         {"provider", offer != nullptr ? Json(offer->machine->provider) : Json(nullptr)},
         {"instance", offer != nullptr ? Json(offer->machine->instance) : Json(nullptr)},
         {"price_source", p.price ? Json(p.price->source()) : Json(nullptr)},
         {"cost_ratio", report::json_number(p.cost)}});
  }
  return all;
}

Json shares_json(const diagnose::TimeShares& shares) {
  return {{"compute", report::json_number(shares.compute)},   {"memory", report::json_number(shares.memory)},
          {"transfer", report::json_number(shares.transfer)}, {"launch", report::json_number(shares.launch)},
          {"stall", report::json_number(shares.stall)},       {"wait", report::json_number(shares.wait)},
          {"overlap", report::json_number(shares.overlap)}};
}

// How the model was corrected by what was measured, and what that makes of a step elsewhere.
void describe_known(report::Report& out, const KnownWork& known, const GpuProfile& gpu,
                    const std::vector<Projection>& projections) {
  const diagnose::KnownJob& job = known.job;
  const Result<perf::JobTime> estimated = perf::job_time(*job.constants, job.model, job.job, *gpu.gpu);
  std::string text = fmt::format("Speeds elsewhere are those of the estimates of this job: {}.", known.described);
  if (!estimated) text += fmt::format(" There is none: {}.", estimated.error().message);
  Json json = {{"job", known.described}};
  if (estimated && known.step) {
    const double correction = *known.step / estimated->step;
    text += fmt::format(
        " A step took {}; the estimate for {} is {}, so what 'rightsize estimate' says of other GPUs "
        "is off by about the same factor of {:.2f}.",
        format_duration(*known.step), gpu.gpu->name, format_duration(estimated->step), correction);
    json["step_seconds"] = in_seconds(*known.step);
    json["estimated_step_seconds"] = in_seconds(estimated->step);
    json["correction"] = correction;
    json["step_seconds_elsewhere"] = Json::object();
    for (const Projection& p : projections)
      json["step_seconds_elsewhere"][p.gpu->name] = in_seconds(*known.step) / p.speed.likely;
  }
  out.blocks.emplace_back(report::Paragraph{std::move(text)});
  out.document["known_job"] = std::move(json);
}

Json gpu_json(const GpuProfile& gpu, const std::vector<Projection>& projections) {
  const Diagnosis& found = gpu.diagnosis;
  Json actions = Json::array();
  for (const diagnose::Action& action : found.actions)
    actions.push_back({{"kind", action.kind}, {"text", action.text}});
  Json json = {{"index", gpu.device.index},
               {"uuid", gpu.device.uuid},
               {"name", gpu.device.name},
               {"host", gpu.device.host},
               {"mig_id", gpu.device.mig_id},
               {"gpu", gpu.gpu != nullptr ? Json(gpu.gpu->name) : Json(nullptr)},
               {"seconds", report::json_number(in_seconds(gpu.whole.duration))},
               {"samples", gpu.whole.samples},
               {"interval_seconds", report::json_number(in_seconds(gpu.whole.interval))},
               {"metrics", metrics_json(gpu.whole)},
               {"verdict", name_of(found.verdict)},
               {"confidence", report::json_number(found.confidence)},
               {"evidence", found.evidence},
               {"actions", std::move(actions)},
               {"surer", found.surer},
               {"wasted", report::json_number(found.wasted)},
               {"wasted_why", found.wasted_why},
               {"shares", shares_json(found.shares)},
               {"roofline", roofline_json(found.roofline)},
               {"joules", report::json_number(gpu.whole.energy, in_joules)},
               {"power_capped", report::json_number(gpu.whole.power_capped)},
               {"thermally_capped", report::json_number(gpu.whole.thermally_capped)},
               {"phases", phases_json(gpu)},
               {"steady_metrics", metrics_json(gpu.steady)},
               {"projections", projections_json(projections)}};
  if (found.article) {
    json["article"] = {{"says", found.article->says}, {"agrees", found.article->agrees}, {"why", found.article->why}};
  }
  return json;
}

// "GPU 0 (NVIDIA H200): compute-bound (confidence 60 %): ...", or undetermined where another verdict is as likely.
std::string verdict_sentence(const GpuProfile& gpu) {
  const Diagnosis& found = gpu.diagnosis;
  const bool sure = found.confidence >= 0.5;
  return fmt::format("{}: {}{} (confidence {:.0f} %): {}.", title_of(gpu), sure ? "" : "undetermined; most likely ",
                     name_of(found.verdict), found.confidence * 100, explain(found.verdict));
}

void describe_gpu(report::Report& out, const GpuProfile& gpu, const std::vector<Projection>& projections) {
  const Diagnosis& found = gpu.diagnosis;
  auto say = [&](std::string text) { out.blocks.emplace_back(report::Paragraph{std::move(text)}); };
  // The first screen: the verdict, what of the time is wasted, what it would cost elsewhere, what to do.
  std::string answer = verdict_sentence(gpu);
  if (found.wasted >= 0.1)
    answer += fmt::format("\n{} of the time is wasted: {}.", percent(found.wasted), found.wasted_why);
  if (!projections.empty()) {
    answer += "\n" + best_elsewhere(projections, gpu);
  } else if (gpu.gpu == nullptr) {
    answer +=
        "\nThe recording does not name the GPU; --gpu NAME adds the roofline, and this work's speed and cost on "
        "other GPUs.";
  }
  say(std::move(answer));
  if (found.verdict != diagnose::Verdict::kIdle && found.verdict != diagnose::Verdict::kIdleHeld &&
      found.verdict != diagnose::Verdict::kUnknown && gpu.steady.of(Metric::kDramActive)) {
    out.blocks.emplace_back(shares_bar(found.shares));
  }
  if (!found.actions.empty()) {
    std::vector<std::string> lines;
    for (const diagnose::Action& action : found.actions) lines.push_back(action.text);
    say("What to do\n" + join(lines));
  }
  say("Evidence\n" + join(found.evidence));
  if (!found.surer.empty()) say("What would tell more\n" + join(found.surer));
  out.blocks.emplace_back(metrics_table(gpu));
  if (gpu.phases.size() > 1) out.blocks.emplace_back(phases_table(gpu));
  if (gpu.whole.energy && gpu.whole.duration > Seconds{}) {
    say(fmt::format("{} over {}: {} of energy, {} on average.",
                    format_count(static_cast<double>(gpu.whole.samples)) + " samples",
                    format_duration(gpu.whole.duration), format_number(in_joules(*gpu.whole.energy) / 1e3) + " kJ",
                    format_power(*gpu.whole.energy / gpu.whole.duration)));
  }
  if (!projections.empty()) out.blocks.emplace_back(projection_table(projections));
}

Json source_json(const ProfileSource& source) {
  Json json = {{"name", source.name}, {"format", source.format}, {"lines", source.lines}, {"refused", source.refused}};
  if (source.wall) json["wall_seconds"] = report::json_number(in_seconds(*source.wall));
  if (source.sampler) json["sampler_seconds"] = report::json_number(in_seconds(*source.sampler));
  if (!source.command.empty()) json["command"] = source.command;
  if (source.exit_status) json["exit_status"] = *source.exit_status;
  return json;
}

void describe_source(report::Report& out, const ProfileSource& source) {
  std::string text = source.notes.empty() ? "" : join(source.notes);
  auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  if (source.sampler && source.wall && *source.wall > Seconds{}) {
    add(fmt::format("Sampling took {} of one processor core.", percent(*source.sampler / *source.wall)));
  }
  if (source.exit_status && *source.exit_status != 0)
    add(fmt::format("The command ended with status {}.", *source.exit_status));
  if (source.refused > 0) {
    add(fmt::format("{} of {} lines were refused; the first: line {}: {}.",
                    format_count(static_cast<double>(source.refused)), format_count(static_cast<double>(source.lines)),
                    source.reasons.front().place.line, source.reasons.front().message));
  }
  if (!text.empty()) out.blocks.emplace_back(report::Paragraph{std::move(text)});
}

}  // namespace

report::Report profile_report(const std::vector<GpuProfile>& gpus, const ProfileSource& source,
                              const perf::SpeedTable& speeds, const market::PriceBook& prices, const KnownWork* known) {
  report::Report out;
  out.title = "Profile";
  out.document = {{"schema", "rightsize/profile/1"}, {"source", source_json(source)}, {"gpus", Json::array()}};
  for (const GpuProfile& gpu : gpus) {
    std::vector<Projection> projections;
    if (gpu.gpu != nullptr)
      projections = diagnose::project({&gpu.steady, &gpu.diagnosis, gpu.gpu, known != nullptr ? &known->job : nullptr},
                                      speeds, &prices);
    describe_gpu(out, gpu, projections);
    if (known != nullptr && gpu.gpu != nullptr) describe_known(out, *known, gpu, projections);
    out.document["gpus"].push_back(gpu_json(gpu, projections));
  }
  describe_source(out, source);
  return out;
}

}  // namespace rightsize::app
