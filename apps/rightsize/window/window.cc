// rightsize window: work that can wait, done in windows; how many GPUs, when, for how much, against doing it at once.
#include "serving/window.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"
#include "serving/planner.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;

struct Flags {
  std::string volume, window = "4h", deadline, item_time, service, gpu, item_memory, fixed_memory, startup = "2min";
  PriceFlag price, spot_price;
  std::string slo, chunk = "5min", catalog;
  double peak = 1, interruptions = 0.05;
  bool pad = false;
};

// What the flags mean.
struct Problem {
  serving::WindowWork work;
  std::string gpu;
  int batch = 1;             // of the offline runs
  Seconds single;            // one item alone, for the real-time option
  serving::Replica replica;  // of the real-time option
  std::optional<market::GpuQuote> on_demand, spot;
  serving::Slo slo;  // of the real-time option
};

// Items a day: "1M/d", "12/s".
Result<double> parse_volume(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    return fail(bad_input(fmt::format("'{}' is not a volume", text))
                    .with_hint("--volume takes items over time: 1M/d, 40k/h, 12/s"));
  }
  RIGHTSIZE_TRY(const double count, parse_count(text.substr(0, slash)));
  RIGHTSIZE_TRY(const Seconds per, parse_duration("1" + text.substr(slash + 1)));
  if (!(count > 0)) return fail(bad_input("a volume of nothing needs no GPU"));
  return count * (days(1) / per);
}

Checked<Problem> with_prices(const Flags& flags, const catalog::Catalog& catalog, Problem problem) {
  RIGHTSIZE_TRY(const market::PriceBook on_demand, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(const market::PriceBook spot, open_prices(catalog, flags.spot_price, "--spot-price"));
  const Result<const catalog::Gpu*> gpu = catalog.find_gpu(problem.gpu);
  const auto ask = [&](const market::PriceBook& book, catalog::Purchase purchase) {
    return gpu ? book.gpu(**gpu, purchase) : book.own_gpu("");
  };
  problem.on_demand = ask(on_demand, catalog::Purchase::kOnDemand);
  problem.spot = ask(spot, catalog::Purchase::kSpot);
  return problem;
}

// The largest batch the memory allows; nothing fits: an error that says how much is missing.
Result<int> largest_batch(const Flags& flags, const catalog::Catalog& catalog, const Problem& problem, int most) {
  if (flags.item_memory.empty()) return most;
  if (problem.gpu.empty()) return fail(bad_input("--item-memory needs --gpu, whose memory it is"));
  RIGHTSIZE_TRY(const Bytes item, parse_bytes(flags.item_memory));
  Bytes fixed;
  if (!flags.fixed_memory.empty()) {
    RIGHTSIZE_TRY(fixed, parse_bytes(flags.fixed_memory));
  }
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(problem.gpu));
  const double fits = item > bytes(0) ? std::floor((gpu->capacity() - fixed) / item) : most;
  if (fits < 1) {
    return fail(bad_input(fmt::format("one item with the model needs {}, and {} has {}", format_bytes(fixed + item),
                                      gpu->name, format_bytes(gpu->capacity()))));
  }
  return std::min(most, static_cast<int>(std::min(fits, 65536.0)));
}

serving::Replica replica_of(const sim::TableTime& table) {
  serving::Replica replica;
  replica.continuous = false;
  replica.times = sim::tabulate(table, table.largest_batch());
  for (const sim::TableTime::Row& row : table.rows()) replica.sizes.push_back(row.batch);
  return replica;
}

Checked<Problem> read_times(const Flags& flags, const catalog::Catalog& catalog, Problem problem) {
  if (flags.service.empty()) {
    Result<Seconds> time = parse_duration(flags.item_time);
    if (!time)
      return fail(one(Error(time.error()).with_hint("--item-time 80ms, or --service FILE.csv with batch times")));
    if (!(*time > seconds(0))) return fail(one(bad_input("an item takes some time")));
    Result<int> fits = largest_batch(flags, catalog, problem, 1);
    if (!fits) return fail(one(fits.error()));
    problem.single = problem.work.item_time = *time;
    problem.replica = replica_of(sim::TableTime({{1, {*time, *time}}}, false));
    return problem;
  }
  Result<std::string> text = read_file(flags.service);
  if (!text) return fail(one(text.error()));
  RIGHTSIZE_TRY(std::vector<sim::TableTime::Row> rows, sim::parse_service_table(flags.service, *std::move(text)));
  const sim::TableTime table(std::move(rows), flags.pad);
  Result<int> most = largest_batch(flags, catalog, problem, table.largest_batch());
  if (!most) return fail(one(most.error()));
  problem.replica = replica_of(table);
  problem.single = table.time_of(1).p50;
  problem.work.item_time = problem.single;
  for (int batch = 1; batch <= *most; ++batch) {
    const Seconds each = table.time_of(batch).p50 / batch;
    if (each <= problem.work.item_time) problem.work.item_time = each, problem.batch = batch;
  }
  return problem;
}

Result<> read_work(const Flags& flags, const catalog::Catalog& catalog, Problem& problem) {
  if (flags.volume.empty()) return fail(bad_input("no volume").with_hint("--volume 1M/d"));
  RIGHTSIZE_TRY(problem.work.items_per_day, parse_volume(flags.volume));
  RIGHTSIZE_TRY(problem.work.window, parse_duration(flags.window));
  if (!(problem.work.window > seconds(0)) || problem.work.window > days(1)) {
    return fail(bad_input(fmt::format("a window lasts up to a day, not '{}'", flags.window)));
  }
  problem.work.deadline = problem.work.window;
  if (!flags.deadline.empty()) {
    RIGHTSIZE_TRY(problem.work.deadline, parse_duration(flags.deadline));
  }
  RIGHTSIZE_TRY(problem.work.startup, parse_duration(flags.startup));
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(flags.gpu));
    problem.gpu = gpu->name;
  }
  if (!(flags.peak >= 1 && flags.peak <= 100)) return fail(bad_input("--peak lies between 1 and 100"));
  if (!(flags.interruptions >= 0 && flags.interruptions <= 60))
    return fail(bad_input("--interruptions lies between 0 and 60 an hour"));
  return {};
}

// GPUs that serve every item as it comes, at the busiest hour, within the SLO.
std::optional<serving::Assessment> real_time(const Problem& problem, const Flags& flags) {
  constexpr int kMost = 100'000;
  serving::Service service;
  service.arrivals = sim::Poisson{requests(problem.work.items_per_day) / days(1) * flags.peak};
  service.slos = {problem.slo};
  return serving::Planner(service, {problem.replica}).fewest(0, {.step = 1, .most = kMost});
}

struct Option {
  std::string name;
  int gpus = 0;
  double gpu_hours = 0;  // a month
  std::optional<market::GpuQuote> price;
  Seconds latency;
  double utilization = 0;
  std::string note;
  double monthly() const { return price ? in_usd(price->rate * rightsize::gpus(1) * hours(gpu_hours)) : NAN; }
};

std::vector<Option> options_of(const Problem& problem, const Flags& flags, const serving::WindowSchedule& plan,
                               const std::optional<serving::Assessment>& live) {
  std::vector<Option> options;
  const double month_hours = in_hours(kMonth);
  if (live) {
    const int gpus = live->configuration.replicas();
    // Busy over the day, not at its peak.
    options.push_back({"real time", gpus, gpus * month_hours, problem.on_demand, live->value(problem.slo),
                       live->busy / flags.peak,
                       fmt::format("{} {}", serving::describe(problem.slo), format_duration(problem.slo.limit))});
  }
  const Seconds worst = problem.work.window + plan.latest;
  const double run_hours = plan.gpu_hours_per_day * in_days(kMonth);
  options.push_back(
      {"windows, GPUs kept", plan.gpus, plan.gpus * month_hours, problem.on_demand, worst, plan.utilization, ""});
  options.push_back({"windows, rented for the runs", plan.gpus, run_hours, problem.on_demand, worst, 1, ""});
  Result<Seconds> chunk = parse_duration(flags.chunk);
  const double redo = serving::spot_overhead(flags.interruptions, problem.work.startup, chunk ? *chunk : seconds(0));
  options.push_back({"windows, spot for the runs", plan.gpus, run_hours * redo, problem.spot, worst, 1 / redo,
                     fmt::format("{} interruptions an hour redo {}", format_number(flags.interruptions),
                                 format_percent(Ratio::fraction(redo - 1)))});
  return options;
}

report::Table table_of(const std::vector<Option>& options) {
  report::Table table;
  table.columns = {{"option", "option", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"GPU-h/month", "gpu_hours_per_month", Align::kRight},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"$/month", "usd_per_month", Align::kRight},
                   {"item done within", "latency_seconds", Align::kRight},
                   {"busy", "utilization", Align::kRight},
                   {"note", "note", Align::kLeft}};
  for (const Option& o : options) {
    table.rows.push_back(
        {report::text_cell(o.name), report::number_cell(std::to_string(o.gpus), o.gpus),
         report::number_cell(format_count(std::round(o.gpu_hours)), o.gpu_hours),
         o.price ? report::number_cell(format_usd_per_hour(o.price->rate), in_usd_per_gpu_hour(o.price->rate))
                 : report::unknown_cell(),
         o.price ? report::number_cell(format_usd(usd(o.monthly())), o.monthly()) : report::unknown_cell(),
         report::number_cell(format_duration(o.latency), in_seconds(o.latency)),
         report::number_cell(format_percent(Ratio::fraction(o.utilization)), o.utilization),
         report::text_cell(o.note)});
  }
  return table;
}

std::string clock(Seconds t) {
  const long minutes = std::lround(in_seconds(t) / 60) % (24 * 60);
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

report::Table schedule_of(const serving::WindowSchedule& plan) {
  report::Table table;
  table.title = "The day";
  table.columns = {{"window closes", "closes", Align::kLeft},
                   {"items", "items", Align::kRight},
                   {"GPUs", "gpus", Align::kRight},
                   {"starts", "starts", Align::kLeft},
                   {"done", "ends", Align::kLeft}};
  table.most_shown = 24;
  for (const serving::WindowRun& run : plan.day) {
    table.rows.push_back({report::text_cell(clock(run.closes)),
                          report::number_cell(format_count(std::round(run.items)), run.items),
                          report::number_cell(std::to_string(plan.gpus), plan.gpus),
                          report::text_cell(clock(run.starts)), report::text_cell(clock(run.ends))});
  }
  return table;
}

Json json_of(const Problem& problem, const serving::WindowSchedule& plan, const std::vector<Option>& options) {
  Json out{{"schema", "rightsize/window/1"},
           {"items_per_day", problem.work.items_per_day},
           {"gpu", problem.gpu},
           {"batch", problem.batch},
           {"item_seconds", in_seconds(problem.work.item_time)},
           {"gpus", plan.gpus},
           {"items_per_window", plan.items_per_window},
           {"busy_seconds", in_seconds(plan.busy)},
           {"options", Json::array()},
           {"schedule", Json::array()}};
  for (const Option& o : options) {
    out["options"].push_back(
        {{"name", o.name},
         {"gpus", o.gpus},
         {"gpu_hours_per_month", o.gpu_hours},
         {"usd_per_gpu_hour", o.price ? report::json_number(in_usd_per_gpu_hour(o.price->rate)) : Json(nullptr)},
         {"price_source", o.price ? Json(o.price->source()) : Json(nullptr)},
         {"usd_per_month", report::json_number(o.monthly())},
         {"latency_seconds", in_seconds(o.latency)},
         {"utilization", o.utilization}});
  }
  for (const serving::WindowRun& run : plan.day) {
    out["schedule"].push_back({{"closes", clock(run.closes)},
                               {"starts", clock(run.starts)},
                               {"ends", clock(run.ends)},
                               {"items", run.items},
                               {"gpus", plan.gpus}});
  }
  return out;
}

std::string summary(const Problem& problem, const serving::WindowSchedule& plan, const std::vector<Option>& options,
                    bool live) {
  std::string text = fmt::format(
      "{} items a day, {} each on {} in batches of {}: {} items every {}, {} GPU{} busy for {} of it, the last item "
      "done {} "
      "after the window closes.",
      format_count(problem.work.items_per_day), format_duration(problem.work.item_time),
      problem.gpu.empty() ? "the GPU" : problem.gpu, problem.batch, format_count(std::round(plan.items_per_window)),
      format_duration(problem.work.window), plan.gpus, plan.gpus == 1 ? "" : "s", format_duration(plan.busy),
      format_duration(plan.latest));
  if (!live) return text + "\nThe real-time option was not found: no number of GPUs keeps its SLO.";
  const double saved = options.front().monthly() - options[1].monthly();
  if (std::isfinite(saved) && saved > 0) {
    text += fmt::format("\nWaiting saves {} a month against real time ({} of {} GPUs)", format_usd(usd(saved)),
                        options.front().gpus - options[1].gpus, options.front().gpus);
    double least = options[1].monthly();
    for (const Option& o : options) least = std::isfinite(o.monthly()) ? std::min(least, o.monthly()) : least;
    if (least < options[1].monthly()) {
      text += fmt::format("; up to {} when GPUs are only there for the runs",
                          format_usd(usd(options.front().monthly() - least)));
    }
    text += ".";
  } else if (std::isfinite(saved)) {
    text += "\nWaiting saves no GPU here: real time needs no more of them.";
  }
  return text;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  Problem started;
  if (Result<> work = read_work(flags, catalog, started); !work) return fail(one(work.error()));
  RIGHTSIZE_TRY(started, with_prices(flags, catalog, std::move(started)));
  RIGHTSIZE_TRY(Problem problem, read_times(flags, catalog, std::move(started)));
  problem.slo = {serving::Quantity::kLatency, serving::Statistic::kP99, problem.single * 3};
  if (!flags.slo.empty()) {
    Result<std::vector<serving::Slo>> slos = serving::parse_slos(flags.slo);
    if (!slos) return fail(one(slos.error()));
    problem.slo = slos->front();
    if (slos->size() > 1 || problem.slo.quantity != serving::Quantity::kLatency)
      return fail(one(bad_input("--slo of a window is one limit on latency").with_hint("for example p99=250ms")));
  }
  const std::optional<serving::WindowSchedule> plan = serving::schedule_window(problem.work);
  Outcome outcome;
  outcome.report.title = "Work in windows";
  if (!plan) {
    outcome.exit_code = kNoFeasibleAnswer;
    outcome.report.document = {{"schema", "rightsize/window/1"}, {"gpus", nullptr}};
    outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
        "Not possible: starting a GPU takes {} and the work must be done {} after the window closes.",
        format_duration(problem.work.startup), format_duration(std::min(problem.work.deadline, problem.work.window)))});
    return outcome;
  }
  const std::optional<serving::Assessment> live = real_time(problem, flags);
  const std::vector<Option> options = options_of(problem, flags, *plan, live);
  outcome.report.document = json_of(problem, *plan, options);
  outcome.report.blocks.emplace_back(report::Paragraph{summary(problem, *plan, options, live.has_value())});
  outcome.report.blocks.emplace_back(table_of(options));
  outcome.report.blocks.emplace_back(schedule_of(*plan));
  return outcome;
}

}  // namespace

Run add_window(FlagSet& command) {
  auto f = std::make_shared<Flags>();
  command.add_option("--volume", f->volume, "how much there is to do: 1M/d, 40k/h, 12/s");
  command.add_option("--window", f->window, "how long work is collected")->default_str("4h");
  command.add_option("--deadline", f->deadline, "done so long after a window closes (default: before the next closes)");
  command.add_option("--item-time", f->item_time, "GPU time of one item, e.g. 80ms");
  command.add_option("--service", f->service, "or measured batch times, FILE.csv: batch,ms_p50[,ms_p90]");
  command.add_flag("--pad", f->pad, "a batch runs as the next listed size");
  command.add_option("--gpu", f->gpu, "the GPU, for its price and memory");
  command.add_option("--item-memory", f->item_memory, "memory of one item of a batch, e.g. 50MiB");
  command.add_option("--fixed-memory", f->fixed_memory, "memory of the model and the runtime, e.g. 4GiB");
  command.add_option("--startup", f->startup, "from asking for a GPU to its first item")->default_str("2min");
  command.add_option("--peak", f->peak, "real time: the busiest hour over the mean")->default_str("1");
  command.add_option("--slo", f->slo, "real time: the SLO, e.g. p99=250ms (default: p99 of three item times)");
  add_price_flag(command, f->price);
  add_price_flag(command, f->spot_price, "--spot-price", "the same for spot");
  command.add_option("--interruptions", f->interruptions, "spot: how often an hour a GPU is taken away")
      ->default_str("0.05");
  command.add_option("--chunk", f->chunk, "spot: how much work is saved at a time")->default_str("5min");
  add_catalog_flag(command, f->catalog);
  return [f] { return run(*f); };
}

}  // namespace rightsize::app
