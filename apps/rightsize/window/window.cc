// rightsize window: work that can wait, done in windows: GPUs, schedule and cost, compared with real time.
#include <memory>

#include "rightsize/window/report.h"

namespace rightsize::app {
namespace {

// The GPUs that serve every item on arrival, at the busiest hour, within the SLO.
std::optional<capacity::Assessment> real_time(const WindowProblem& problem) {
  constexpr int kMost = 100'000;
  capacity::Service service;
  service.arrivals = sim::Poisson{requests(problem.work.items_per_day) / days(1) * problem.peak};
  service.slos = {problem.slo};
  return capacity::Planner(service, {problem.replica}).fewest(0, {.step = 1, .most = kMost});
}

Checked<Outcome> run(const WindowFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const WindowProblem problem, read_problem(flags, catalog));
  const std::optional<capacity::WindowSchedule> plan = capacity::schedule_window(problem.work);
  if (!plan) return no_schedule(problem);
  const std::optional<capacity::Assessment> at_once = real_time(problem);
  return Outcome{window_report(problem, *plan, window_options(problem, *plan, at_once), at_once.has_value())};
}

}  // namespace

Run add_window(FlagSet& command) {
  auto f = std::make_shared<WindowFlags>();
  command.add_option("--volume", f->volume, "amount of work: 1M/d, 40k/h, 1M/2h, 12/s");
  command.add_option("--window", f->window, "how long work is collected, 1min to 1d")->default_str("4h");
  command.add_option("--deadline", f->deadline,
                     "time to finish after a window closes (default: before the next one closes)");
  command.add_option("--item-time", f->item_time, "GPU time of one item, e.g. 80ms");
  command.add("batch-times", f->service);
  command.add_flag("--pad", f->pad, "a batch runs as the next listed size");
  command.add_option("--gpu", f->gpu, "the GPU, for its price and memory");
  command.add_option("--item-memory", f->item_memory, "memory of one item of a batch, e.g. 50MiB");
  command.add_option("--fixed-memory", f->fixed_memory, "memory of the model and the runtime, e.g. 4GiB");
  command.add_option("--startup", f->startup, "from requesting a GPU to its first item")->default_str("2min");
  command.add_option("--peak", f->peak, "real time: the busiest hour over the mean")->default_str("1");
  command.add_option("--slo", f->slo, "real time: the SLO, e.g. p99=250ms (default: p99 of three item times)");
  add_price_flag(command, f->price);
  add_price_flag(command, f->spot_price, "--spot-price", "the same for spot");
  command.add_option("--interruptions", f->interruptions, "spot: interruptions per hour of one GPU")
      ->default_str("0.05");
  command.add_option("--chunk", f->chunk, "spot: work between two checkpoints")->default_str("5min");
  add_catalog_flag(command, f->catalog);
  return [f] { return run(*f); };
}

}  // namespace rightsize::app
