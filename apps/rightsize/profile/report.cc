#include "rightsize/profile/report.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "diagnose/power_cap.h"
#include "market/offers.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using diagnose::Diagnosis;
using diagnose::GpuProfile;
using diagnose::Metric;
using diagnose::MetricStatistics;
using diagnose::Phase;
using diagnose::Roofline;
using diagnose::TimeShares;
using diagnose::Verdict;
using fleet::Alternative;
using report::Fields;
using report::kTableOnly;
using report::spare;

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }
std::string clock_time(Seconds time) { return fmt::format("{:.1f} s", in_seconds(time)); }

const Fields<MetricStatistics> kStatisticsFields = {
    {"mean", "mean", &MetricStatistics::mean},
    {"p50", "median", &MetricStatistics::p50},
    {"p95", "95th percentile", &MetricStatistics::p95},
    {"max", "maximum", &MetricStatistics::max},
};

const Fields<Phase> kPhaseFields = {
    {"phase", "phase", "what the program did", &Phase::kind},
    {"begin_seconds", "from", "from the first sample", &Phase::begin, clock_time},
    {"end_seconds", "to", "from the first sample", &Phase::end, clock_time},
    {"activity", "active", "mean activity", &Phase::activity, percent},
};

const Fields<TimeShares> kShareFields = {
    {"compute", "arithmetic", &TimeShares::compute},
    {"memory", "memory traffic", &TimeShares::memory},
    {"transfer", "copies over PCIe or NVLink", &TimeShares::transfer},
    {"launch", "starting kernels", &TimeShares::launch},
    {"stall", "latency and synchronization inside kernels", &TimeShares::stall},
    {"wait", "nothing runs", &TimeShares::wait},
    {"overlap", "arithmetic and memory at the same time", &TimeShares::overlap},
};

const Fields<Roofline> kRooflineFields = {
    {"achieved_flops_per_second", "arithmetic rate", &Roofline::achieved},
    {"bytes_per_second", "memory traffic", &Roofline::traffic},
    {"intensity_flops_per_byte", "arithmetic intensity", &Roofline::intensity},
    {"ridge_flops_per_byte", "where this GPU's two limits meet", &Roofline::ridge},
    {"of_limit", "share of what the roofline allows at this intensity", &Roofline::of_limit},
};

const Fields<diagnose::Action> kActionFields = {
    {"kind", "kind of action", &diagnose::Action::kind},
    {"text", "what to do", &diagnose::Action::text},
};

const Fields<diagnose::RuleOfThumb> kArticleFields = {
    {"says", "what the rule of thumb says", &diagnose::RuleOfThumb::says},
    {"agrees", "whether it agrees with the verdict", &diagnose::RuleOfThumb::agrees},
    {"why", "why not", &diagnose::RuleOfThumb::why},
};

const catalog::Machine* machine_of(const Alternative& p) { return p.offer ? p.offer->machine : nullptr; }

const Fields<Alternative> kProjectionFields = {
    {"gpu", "GPU", "another GPU", [](const Alternative& p) { return p.gpu->name; }},
    {"speed", "speed", "relative to the observed GPU", [](const Alternative& p) { return p.speed.likely; },
     [](double speed) { return fmt::format("{:.2f}x", speed); }},
    {"low", "lower end of the 80 % interval", [](const Alternative& p) { return p.speed.low; }},
    {"high", "upper end of the 80 % interval", [](const Alternative& p) { return p.speed.high; }},
    {"speed_low", "80 % interval", "lower end of the 80 % interval", [](const Alternative& p) { return p.speed.low; },
     [](const Alternative& p) { return fmt::format("{:.2f}-{:.2f}x", p.speed.low, p.speed.high); }, kTableOnly},
    {"busy", "busy", "share of the time it would be busy", [](const Alternative& p) { return p.speed.busy; }, percent},
    {"basis", "basis", "what the speed is based on", [](const Alternative& p) { return p.speed.basis; }},
    {"load_p95", "p95 load", "95th percentile of the load there; null: work that takes all that a GPU gives",
     [](const Alternative& p) { return p.full_speed ? std::nullopt : std::optional(p.forecast.load_p95); }, percent},
    {"keeps_up", "keeps up",
     "whether load and latency there are within the limits of 'fleet', and the work takes at most 1.5x as long",
     &Alternative::keeps_up,
     [](const Alternative& p) { return p.keeps_up               ? "yes"
                                       : p.speed.likely < 0.995 ? "no"
                                                                : "unsure"; }},
    {"fits", "the memory in use fits", &Alternative::fits},
    {"replaces", "same vendor and host architecture; no GeForce card for a data-centre GPU", &Alternative::replaces},
    {"usd_per_gpu_hour", "$/GPU-h", "price; null: none known",
     [](const Alternative& p) { return p.offer ? std::optional(p.offer->rate) : std::nullopt; }},
    {"provider", "of the offer",
     [](const Alternative& p) { return machine_of(p) != nullptr ? &machine_of(p)->provider : nullptr; }},
    {"instance", "of the offer",
     [](const Alternative& p) { return machine_of(p) != nullptr ? &machine_of(p)->instance : nullptr; }},
    {"price_source", "the offer, or the user's own price",
     [](const Alternative& p) { return p.offer ? std::optional(p.offer->source) : std::nullopt; }},
    {"cost_ratio", "cost", "of the same work, relative to the observed GPU", &Alternative::cost, percent},
    {"offer", "cheapest at", "provider and instance, or the user's own price",
     [](const Alternative& p) {
       const catalog::Machine* machine = machine_of(p);
       return machine != nullptr ? machine->provider + " " + machine->instance : p.offer ? p.offer->source : "";
     },
     kTableOnly},
};

struct GpuView {
  const GpuProfile& gpu;
  const Elsewhere& elsewhere;
  std::optional<UsdPerSecond> price = {};       // of this GPU or MIG instance
  std::optional<diagnose::CapEffect> cap = {};  // the power cap with the least energy

  const Diagnosis& found() const { return gpu.diagnosis; }
};

const Fields<diagnose::Cycle> kCycleFields = {
    {"kind", "waiting: work alternates with waits; colocated: generation with training", &diagnose::Cycle::kind},
    {"cycles", "number of cycles", &diagnose::Cycle::cycles},
    {"period_seconds", "length of a cycle", &diagnose::Cycle::period},
    {"wait_share", "share of the time that is waited", &diagnose::Cycle::wait_share},
};

const Fields<diagnose::CapEffect> kCapEffectFields = {
    {"cap_watts", "the cap", &diagnose::CapEffect::cap},
    {"time_factor", "time of the work, relative to today", &diagnose::CapEffect::time},
    {"energy_factor", "energy of the work, relative to today", &diagnose::CapEffect::energy},
};

using NamedStatistics = std::vector<std::pair<std::string_view, MetricStatistics>>;

NamedStatistics named(const diagnose::Summary& summary) {
  NamedStatistics all;
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (summary.metrics[i]) all.emplace_back(telemetry::name_of(static_cast<Metric>(i)), *summary.metrics[i]);
  }
  return all;
}

std::optional<Watts> mean_power(const GpuView& view) {
  const diagnose::Summary& whole = view.gpu.whole;
  if (!whole.energy || !(whole.duration > Seconds{})) return std::nullopt;
  return *whole.energy / whole.duration;
}

std::optional<UsdPerSecond> saving_of(const GpuView& view) {
  const std::optional<Alternative>& best = view.elsewhere.best;
  return best && view.price ? std::optional(*view.price * *best->saved) : std::nullopt;
}

// The share of the recording in pauses, which the verdict leaves out; 0 if it is small.
double pauses_of(const GpuProfile& gpu) {
  constexpr double kSmall = 0.1;
  const double share = diagnose::pause_share(gpu.phases);
  return share < kSmall ? 0 : share;
}

bool is_idle(Verdict verdict) { return verdict == Verdict::kIdle || verdict == Verdict::kIdleHeld; }

// The share of the recording in which nothing runs.
double waits_of(const GpuView& view) { return 1 - (1 - pauses_of(view.gpu)) * (1 - view.found().shares.wait); }

// The verdict is about the time in which the GPU works, but most of the time it does not.
bool mostly_waits(const GpuView& view) {
  const Verdict verdict = view.found().verdict;
  return waits_of(view) > 0.5 &&
         (verdict == Verdict::kComputeBound || verdict == Verdict::kMemoryBound || verdict == Verdict::kLaunchBound);
}

// Counters show that a smaller GPU would be enough; whether one costs less and keeps up is known only here.
std::vector<diagnose::Action> actions_of(const GpuView& view) {
  std::vector<diagnose::Action> actions = view.found().actions;
  const bool promised = view.found().verdict == Verdict::kInputBound || view.found().verdict == Verdict::kUnderused;
  const bool exists = std::ranges::any_of(view.elsewhere.alternatives, [&](const Alternative& p) {
    return p.fits && p.replaces && p.keeps_up && (!view.price || p.cost.value_or(1) < 1);
  });
  if (promised && !view.elsewhere.alternatives.empty() && !exists)
    std::erase_if(actions, [](const diagnose::Action& action) { return action.kind == "smaller-gpu"; });
  // Faster work only makes the waits longer.
  if (mostly_waits(view)) {
    std::erase_if(actions, [](const diagnose::Action& action) {
      return action.kind != "data-loading" && action.kind != "rl-layout" && action.kind != "consolidate";
    });
    if (std::ranges::find(actions, "data-loading", &diagnose::Action::kind) == actions.end())
      actions.insert(actions.begin(),
                     {"data-loading", fmt::format("find what the GPU waits for (data, the host, other GPUs, requests): "
                                                  "nothing runs {} of the time",
                                                  percent(waits_of(view)))});
  }
  return actions;
}

const Fields<GpuView> kGpuFields = {
    {"index", "number on the host", [](const GpuView& v) { return v.gpu.device.index; }},
    {"uuid", "UUID", [](const GpuView& v) { return v.gpu.device.uuid; }},
    {"name", "the driver's name for it", [](const GpuView& v) { return v.gpu.device.name; }},
    {"host", "host", [](const GpuView& v) { return v.gpu.device.host; }},
    {"mig_id", "MIG instance", [](const GpuView& v) { return v.gpu.device.mig_id; }},
    {"gpu", "name in the catalogue; null: unknown",
     [](const GpuView& v) { return v.gpu.gpu != nullptr ? &v.gpu.gpu->name : nullptr; }},
    {"seconds", "observed time", [](const GpuView& v) { return v.gpu.whole.duration; }},
    {"samples", "samples", [](const GpuView& v) { return v.gpu.whole.samples; }},
    {"interval_seconds", "time between samples", [](const GpuView& v) { return v.gpu.whole.interval; }},
    {"metrics", "statistics of each metric", kStatisticsFields, [](const GpuView& v) { return named(v.gpu.whole); }},
    {"verdict", "what limits it", [](const GpuView& v) { return v.found().verdict; }},
    {"confidence", "0 to 1", [](const GpuView& v) { return v.found().confidence; }},
    {"evidence", "what the verdict is based on", [](const GpuView& v) { return v.found().evidence; }},
    {"actions", "what to do", kActionFields, [](const GpuView& v) { return actions_of(v); }},
    {"surer", "measurements that would raise the confidence", [](const GpuView& v) { return v.found().surer; }},
    {"wasted", "share of the time without useful work", [](const GpuView& v) { return v.found().wasted; }},
    {"wasted_why", "why", [](const GpuView& v) { return v.found().wasted_why; }},
    {"usd_per_hour", "price of this GPU; null: none known", &GpuView::price},
    {"wasted_usd_per_hour", "of it for nothing",
     [](const GpuView& v) { return v.price ? std::optional(*v.price * v.found().wasted) : std::nullopt; }},
    {"shares", "where the time goes", kShareFields, [](const GpuView& v) { return v.found().shares; }},
    {"roofline", "position on the roofline", kRooflineFields, [](const GpuView& v) { return v.found().roofline; }},
    {"joules", "energy", [](const GpuView& v) { return v.gpu.whole.energy; }},
    {"energy_kwh?", "the same in kWh", [](const GpuView& v) { return v.gpu.whole.energy; }},
    {"mean_power_watts?", "energy over the observed time", mean_power},
    {"power_cap?", "the cap that saves the most energy and makes the work at most 5 % slower", kCapEffectFields,
     &GpuView::cap},
    {"power_capped", "share of samples at the power limit", [](const GpuView& v) { return v.gpu.whole.power_capped; }},
    {"thermally_capped", "share of samples limited by heat",
     [](const GpuView& v) { return v.gpu.whole.thermally_capped; }},
    {"cycle?", "a regular cycle of long phases, as in reinforcement learning", kCycleFields,
     [](const GpuView& v) { return v.gpu.cycle; }},
    {"phases", "phases in order", kPhaseFields, [](const GpuView& v) { return std::span(v.gpu.phases); }},
    {"steady_metrics", "statistics without start-up, pauses and idleness at the end", kStatisticsFields,
     [](const GpuView& v) { return named(v.gpu.steady); }},
    {"projections", "the same work on other GPUs", kProjectionFields,
     [](const GpuView& v) { return std::span(v.elsewhere.alternatives); }},
    {"paced", "whether work arrives at a fixed rate: a faster GPU does not finish earlier",
     [](const GpuView& v) { return v.elsewhere.paced; }},
    {"alternative?", "the GPU that 'fleet' proposes instead",
     [](const GpuView& v) { return v.elsewhere.best ? &v.elsewhere.best->gpu->name : nullptr; }},
    {"saving_usd_per_month?", "what it saves", saving_of},
    {"article?", "a common rule of thumb about SM activity", kArticleFields,
     [](const GpuView& v) { return v.found().article; }},
};

const Fields<ProfileSource> kSourceFields = {
    {"name", "file, command or process", &ProfileSource::name},
    {"format", "format of the file, or the driver's interface", &ProfileSource::format},
    {"lines", "lines read", &ProfileSource::lines},
    {"refused", "lines that could not be read", &ProfileSource::refused},
    {"wall_seconds?", "duration of the command", &ProfileSource::wall},
    {"sampler_seconds?", "processor time of the sampling", &ProfileSource::sampler},
    {"command?", "the command", &ProfileSource::command},
    {"exit_status?", "exit status of the command", &ProfileSource::exit_status},
};

// How a measured step corrects the estimates of a known job.
struct Correction {
  Seconds step, estimated;
  std::vector<std::pair<std::string_view, Seconds>> elsewhere;
};

// Measured and estimated power of a known job. With a measured step, also the energy of a unit of work.
struct KnownPower {
  Watts drawn, estimated;
  std::optional<Joules> per_unit;
  Joules estimated_per_unit;
};

struct KnownView {
  std::string job;
  std::optional<Correction> correction;
  std::optional<KnownPower> power;
};

const Fields<Correction> kCorrectionFields = {
    {"step_seconds", "measured time of a step", &Correction::step},
    {"estimated_step_seconds", "its estimate", &Correction::estimated},
    {"correction", "measured / estimated", [](const Correction& c) { return c.step / c.estimated; }},
    {"step_seconds_elsewhere", "time of a step on other GPUs", &Correction::elsewhere},
};

const Fields<KnownPower> kKnownPowerFields = {
    {"power_watts", "measured power of a GPU, without start-up and pauses", &KnownPower::drawn},
    {"estimated_power_watts", "its estimate", &KnownPower::estimated},
    {"joules_per_unit?", "measured energy of a trained sequence or image, an output token or a sample",
     &KnownPower::per_unit},
    {"estimated_joules_per_unit", "its estimate", &KnownPower::estimated_per_unit},
};

const Fields<KnownView> kKnownFields = {
    {"job", "the job", &KnownView::job},
    {kCorrectionFields, &KnownView::correction},
    {kKnownPowerFields, &KnownView::power},
};

struct ProfileView {
  const ProfileSource& source;
  std::vector<GpuView> gpus;
  std::optional<KnownView> known;
};

const Fields<ProfileView> kProfileFields = {
    {"source", "where the samples come from", kSourceFields, [](const ProfileView& v) { return &v.source; }},
    {"gpus", "the GPUs the work ran on", kGpuFields, [](const ProfileView& v) { return std::span(v.gpus); }},
    {"known_job?", "the job the user described", kKnownFields, &ProfileView::known},
};

const report::Document<ProfileView> kProfileDocument("profile", "What limits a workload on a GPU", kProfileFields);

std::string title_of(const GpuProfile& gpu) {
  std::string title = fmt::format("GPU {}", gpu.device.index);
  if (!gpu.device.host.empty()) title = gpu.device.host + " " + title;
  if (!gpu.device.mig_id.empty()) title += fmt::format(" instance {}", gpu.device.mig_id);
  const std::string name = !gpu.device.name.empty() ? gpu.device.name : gpu.gpu != nullptr ? gpu.gpu->name : "";
  return name.empty() ? title : fmt::format("{} ({})", title, name);
}

struct ShownMetric {
  Metric metric;
  const char* title;
  std::string (*show)(double);
};

std::string show_rate(double v) { return format_bandwidth(bytes_per_s(v)); }

constexpr ShownMetric kShown[] = {
    {Metric::kGpuUtil, "utilization (nvidia-smi)", percent},
    {Metric::kGraphicsActive, "engine active", percent},
    {Metric::kSmActive, "SM active", percent},
    {Metric::kSmOccupancy, "SM occupancy", percent},
    {Metric::kTensorActive, "tensor active", percent},
    {Metric::kDramActive, "DRAM active", percent},
    {Metric::kFp32Active, "fp32 active", percent},
    {Metric::kPcieRx, "PCIe in", show_rate},
    {Metric::kPcieTx, "PCIe out", show_rate},
    {Metric::kNvlinkRx, "NVLink in", show_rate},
    {Metric::kPower, "power", [](double v) { return format_power(watts(v)); }},
    {Metric::kSmClock, "SM clock", [](double v) { return fmt::format("{:.0f} MHz", v / 1e6); }},
    {Metric::kTemperature, "temperature", [](double v) { return fmt::format("{:.0f} C", v); }},
    {Metric::kMemoryUsed, "memory used", [](double v) { return format_bytes(bytes(v)); }},
};

// A metric per row, each with its own format.
struct MetricRow {
  const ShownMetric& shown;
  const MetricStatistics& statistics;
  operator const MetricStatistics&() const { return statistics; }
};
template <double MetricStatistics::*kValue>
std::string show(const MetricRow& row) {
  return row.shown.show(row.statistics.*kValue);
}
const Fields<MetricRow> kMetricFields = {
    {"metric", "the metric", [](const MetricRow& row) { return row.shown.title; }},
    {"mean", "mean", &MetricStatistics::mean, show<&MetricStatistics::mean>},
    {"p50", "median", &MetricStatistics::p50, show<&MetricStatistics::p50>},
    {"p95", "95th percentile", &MetricStatistics::p95, show<&MetricStatistics::p95>},
    {"max", "maximum", &MetricStatistics::max, show<&MetricStatistics::max>},
};

report::Table metrics_table(const GpuProfile& gpu) {
  std::vector<MetricRow> rows;
  for (const ShownMetric& shown : kShown) {
    const auto& statistics = gpu.whole.of(shown.metric);
    if (!statistics || (shown.metric == Metric::kNvlinkRx && statistics->max == 0)) continue;
    rows.push_back({shown, *statistics});
  }
  return table_of(kMetricFields, rows, {"metric", "mean", "p50", "p95", "max"});
}

report::StackedBar shares_bar(const TimeShares& shares) {
  report::StackedBar bar;
  bar.title = "Where the time goes";
  const std::pair<const char*, double> segments[] = {{"arithmetic", shares.compute}, {"memory", shares.memory},
                                                     {"copies", shares.transfer},    {"launches", shares.launch},
                                                     {"stalls", shares.stall},       {"waiting", shares.wait}};
  for (const auto& [label, share] : segments) {
    if (share >= 0.005) bar.segments.push_back({label, percent(share), share});
  }
  return bar;
}

std::string offer_text(const Alternative& p) {
  const std::string rate = format_usd_per_hour(p.offer->rate);
  const catalog::Machine* machine = machine_of(p);
  if (machine == nullptr) return fmt::format("at your price of {}/GPU-h", rate);
  return fmt::format("{} at {}, on-demand, {}/GPU-h", machine->instance, machine->provider, rate);
}

std::string runs_at(const Alternative& p) {
  return fmt::format("{} would run it at {:.2f}x the speed{} ({}).", p.gpu->name, p.speed.likely,
                     p.cost ? fmt::format(" and {} of the cost", percent(*p.cost)) : "", offer_text(p));
}

// Why a cheaper GPU is not proposed.
std::string falls_behind(const Alternative& p, bool paced) {
  const std::optional<double> usual = p.forecast.latency_p95, peak = p.forecast.latency_peak;
  if (!paced) return fmt::format("bursts would take up to {:.1f}x as long", std::max(1.0, p.forecast.load_p95));
  if (!p.only_slow) return fmt::format("its load would reach {} at p95", percent(p.forecast.load_p95));
  return usual && peak ? fmt::format("requests would take up to {:.1f}x as long", std::max(*usual, *peak))
                       : "requests would queue at the busiest times";
}

// The GPU that 'fleet' proposes, and one that is slower but cheaper for the same work.
std::string best_elsewhere(const GpuView& view) {
  const Elsewhere& other = view.elsewhere;
  const std::string& name = view.gpu.gpu->name;
  if (is_idle(view.found().verdict)) return "No work needs a GPU here: stop or release it.";
  const Alternative *possible = nullptr, *behind = nullptr;  // the cheapest that keeps up, and that does not
  for (const Alternative& p : other.alternatives) {
    if (!p.fits || !p.replaces || !p.offer) continue;
    const Alternative*& cheapest = p.keeps_up ? possible : behind;
    if (cheapest == nullptr || (p.cost && p.cost < cheapest->cost)) cheapest = &p;
  }
  if (possible == nullptr && behind == nullptr) return "No other GPU with a known price has enough memory.";
  if (!view.price) {
    return fmt::format(
        "{} has no list price, so costs cannot be compared; give yours: --price {}=0.50. {}{}", name, name,
        possible != nullptr ? "" : fmt::format("No other GPU keeps up: {}. ", falls_behind(*behind, other.paced)),
        runs_at(possible != nullptr ? *possible : *behind));
  }
  const bool has_best = other.best && other.best->keeps_up;
  std::string text = has_best ? runs_at(*other.best) : "";
  const double least = has_best ? *other.best->cost : 1;
  if (possible != nullptr && *possible->cost < 0.95 * least) {
    text +=
        fmt::format("{}{}", text.empty() ? "" : " Cheaper for the same work, at another speed: ", runs_at(*possible));
  }
  if (!text.empty()) return text;
  if (behind == nullptr || *behind->cost >= 1)
    return fmt::format("No other GPU does this work for less than {}.", name);
  return fmt::format("No other GPU does this work for less at the same pace. {} But {}.", runs_at(*behind),
                     falls_behind(*behind, other.paced));
}

// The verdict, the wasted time and money, and the cost of the work on other GPUs.
std::string first_screen(const GpuView& view) {
  const Diagnosis& found = view.found();
  constexpr double kNoticed = 0.1;
  const double waits = is_idle(found.verdict) || found.verdict == Verdict::kUnknown ? 0 : waits_of(view);
  std::string text = fmt::format(
      "{}: {}{}{} (confidence {:.0f} %): {}{}.", title_of(view.gpu),
      mostly_waits(view) ? fmt::format("nothing runs {} of the time. While it works: ", percent(waits)) : "",
      found.confidence >= 0.5 ? "" : "probably ", name_of(found.verdict), found.confidence * 100,
      explain(found.verdict),
      waits >= kNoticed && !mostly_waits(view) ? fmt::format("; nothing runs {} of the time", percent(waits)) : "");
  const auto money = [&](double share) {
    if (!view.price) return std::string(".");
    const std::string all = format_usd_per_hour(*view.price), part = format_usd_per_hour(*view.price * share);
    return all == part ? fmt::format(": all of {}/h.", all) : fmt::format(": {} of every {} hour.", part, all);
  };
  const double pauses = pauses_of(view.gpu);
  if (pauses > 0) text += fmt::format("\nThe work pauses for {} of the time{}", percent(pauses), money(pauses));
  if (found.wasted >= 0.1) {
    text += fmt::format("\n{} of the {}time is wasted, because {}{}", percent(found.wasted),
                        pauses > 0 ? "remaining " : "", found.wasted_why, money(found.wasted * (1 - pauses)));
  }
  if (!view.elsewhere.alternatives.empty()) return text + "\n" + best_elsewhere(view);
  if (view.gpu.gpu != nullptr) return text;
  return text +
         "\nThe recording does not name the GPU; --gpu NAME adds the roofline, and speed and cost on other GPUs.";
}

void describe_gpu(report::Report& out, const GpuView& view, std::size_t top) {
  const GpuProfile& gpu = view.gpu;
  const std::vector<Alternative>& projections = view.elsewhere.alternatives;
  const Diagnosis& found = gpu.diagnosis;
  auto list = [&](const char* title, const std::vector<std::string>& lines) {
    if (!lines.empty()) out.say(fmt::format("{}\n  {}", title, fmt::join(lines, "\n  ")));
  };
  out.say(first_screen(view));
  if (!is_idle(found.verdict) && found.verdict != Verdict::kUnknown && gpu.steady.of(Metric::kDramActive))
    out.blocks.emplace_back(shares_bar(found.shares));
  std::vector<std::string> actions;
  for (const diagnose::Action& action : actions_of(view)) actions.push_back(action.text);
  list("What to do", actions);
  list("Evidence", found.evidence);
  list("For a higher confidence, collect", found.surer);
  out.blocks.emplace_back(metrics_table(gpu));
  if (gpu.phases.size() > 1) {
    report::Table phases = table_of(kPhaseFields, gpu.phases, {"phase", "begin_seconds", "end_seconds", "activity"});
    phases.most_shown = top;
    out.show("Phases", std::move(phases));
  }
  if (const std::optional<Watts> mean = mean_power(view)) {
    const double joules = in_joules(*gpu.whole.energy);
    std::string text =
        fmt::format("{} samples over {}: {}, {} on average.", format_count(static_cast<double>(gpu.whole.samples)),
                    format_duration(gpu.whole.duration),
                    joules < 3.6e6 ? format_number(joules / 1e3) + " kJ" : format_number(joules / 3.6e6) + " kWh",
                    format_power(*mean));
    if (view.cap) {
      text += fmt::format(" A power cap of {} would save {} of the energy and make the work {} slower.",
                          format_power(view.cap->cap), percent(1 - view.cap->energy), percent(view.cap->time - 1));
    }
    out.say(std::move(text));
  }
  if (projections.empty() || is_idle(found.verdict)) return;
  std::vector<const Alternative*> fitting;
  for (const Alternative& p : projections) {
    if (p.fits && p.replaces) fitting.push_back(&p);
  }
  // What costs less than today comes first, even if it does not keep up.
  std::ranges::stable_sort(fitting, {}, [](const Alternative* p) { return p->cost.value_or(1) < 1 ? *p->cost : 1; });
  report::Table table = table_of(kProjectionFields, fitting,
                                 {"gpu", "speed", "speed_low", spare("basis"), spare("busy"), spare("load_p95"),
                                  "keeps_up", "usd_per_gpu_hour", "cost_ratio", "offer"});
  table.most_shown = top;
  out.show("The same work elsewhere", std::move(table));
}

// How a measurement corrects the estimates, and the resulting step times on other GPUs.
KnownView describe_known(report::Report& out, const KnownWork& known, const GpuView& view) {
  const diagnose::KnownJob& job = known.job;
  const Result<perf::JobTime> estimated = perf::job_time(*job.constants, job.model, job.job, *view.gpu.gpu);
  std::string text = fmt::format("Speeds on other GPUs are estimates for this job: {}.", known.described);
  if (!estimated) text += fmt::format(" No estimate: {}.", estimated.error().message);
  KnownView described{known.described, {}, {}};
  if (estimated && known.step) {
    Correction correction{*known.step, estimated->step, {}};
    text += fmt::format(
        " A step took {}; the estimate for {} is {}. 'rightsize estimate' is probably off by the same factor ({:.2f}) "
        "on other GPUs.",
        format_duration(correction.step), view.gpu.gpu->name, format_duration(correction.estimated),
        correction.step / correction.estimated);
    for (const Alternative& p : view.elsewhere.alternatives)
      correction.elsewhere.emplace_back(p.gpu->name, *known.step / p.speed.likely);
    described.correction = std::move(correction);
  }
  const std::optional<double> drawn = view.gpu.steady.mean(Metric::kPower);
  if (estimated && drawn && estimated->power.known()) {
    const Watts power = estimated->power.mean;
    KnownPower known_power{watts(*drawn), power, {}, power * estimated->unit};
    text += fmt::format(" It draws {}; the estimate is {}", format_power(watts(*drawn)), format_power(power));
    if (known.step) {
      known_power.per_unit = watts(*drawn) * (estimated->unit * (*known.step / estimated->step));
      text += fmt::format(": {} J per unit of work, estimated {} J", format_number(in_joules(*known_power.per_unit)),
                          format_number(in_joules(known_power.estimated_per_unit)));
    }
    text += ".";
    described.power = known_power;
  }
  out.say(std::move(text));
  return described;
}

void describe_source(report::Report& out, const ProfileSource& source) {
  std::vector<std::string> lines = source.notes;
  if (source.sampler && source.wall && *source.wall > Seconds{}) {
    lines.push_back(fmt::format("Sampling took {} of one processor core.", percent(*source.sampler / *source.wall)));
  }
  if (source.exit_status && *source.exit_status != 0)
    lines.push_back(fmt::format("The command exited with status {}.", *source.exit_status));
  if (source.refused > 0) {
    lines.push_back(fmt::format("{} of {} lines could not be read; the first is line {}: {}.",
                                format_count(static_cast<double>(source.refused)),
                                format_count(static_cast<double>(source.lines)), source.reasons.front().place.line,
                                source.reasons.front().message));
  }
  out.say(fmt::format("{}", fmt::join(lines, "\n")));
}

// Power limits apply to whole GPUs, not to MIG instances.
std::optional<diagnose::CapEffect> cap_of(const GpuProfile& gpu, const perf::SpeedTable& speeds) {
  constexpr double kMostTime = 1.05;
  const perf::SustainedRates* rates = speeds.find(*gpu.gpu);
  if (rates == nullptr || !gpu.device.mig_id.empty()) return std::nullopt;
  const auto work = diagnose::powered_work(gpu.steady, gpu.diagnosis.shares, rates->power);
  if (!work) return std::nullopt;
  const diagnose::WeightedWork only{*work, joules(1)};
  return diagnose::best_cap({&only, 1}, kMostTime);
}

}  // namespace

report::Report profile_report(const std::vector<GpuProfile>& gpus, const std::vector<Elsewhere>& elsewhere,
                              const ProfileSource& source, const perf::SpeedTable& speeds, const KnownWork* known,
                              std::size_t top) {
  report::Report out;
  out.title = "Profile";
  ProfileView profile{source, {}, {}};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuProfile& gpu = gpus[i];
    GpuView view{gpu, elsewhere[i]};
    const fleet::GpuPrice& price = view.elsewhere.price;
    if (price.rate) view.price = *price.rate * rightsize::gpus(price.share);
    if (gpu.gpu != nullptr) view.cap = cap_of(gpu, speeds);
    describe_gpu(out, view, top);
    if (known != nullptr && gpu.gpu != nullptr) profile.known = describe_known(out, *known, view);
    profile.gpus.push_back(view);
  }
  describe_source(out, source);
  out.document = kProfileDocument.of(profile);
  return out;
}

}  // namespace rightsize::app
