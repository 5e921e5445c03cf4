// rightsize window: work that can wait, done in windows: GPUs, schedule and cost, compared with real time.
#include <memory>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "market/energy.h"
#include "rightsize/window/report.h"

namespace rightsize::app {
namespace {

// The GPUs that serve every item on arrival, at the busiest hour, within the SLO.
std::optional<capacity::Assessment> real_time(const WindowProblem& problem) {
  constexpr int kMost = 100'000;
  capacity::Service service;
  service.arrivals = sim::Poisson{requests(problem.work.items_per_day) / days(1) * problem.given.peak};
  service.slos = {problem.slo};
  return capacity::Planner(service, {problem.replica}).fewest(0, {.step = 1, .most = kMost});
}

Checked<Outcome> run_window(const WindowFlags& flags) {
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
  command.add("volume", f->volume);
  command.add("items", f->items)->meaning("items of each day, instead of --volume");
  command.add_unchecked("window", [f = f.get()](const std::string& text) { return read_window(text, *f); })
      ->meaning("how long work is collected, at most a day; 22:00-06:00: the hours in which the work of a day runs")
      ->or_words("4h; with --items a day");
  command.add("deadline", f->deadline)
      ->meaning("time to finish after a window closes")
      ->or_words("before the next window closes");
  command.add("item-time", f->item_time);
  command.add("batch-times", f->service);
  command.add("pad", f->pad);
  command.add("gpu", f->gpu)->meaning("the GPU, for its price and memory");
  command.add("item-memory", f->item_memory);
  command.add("fixed-memory", f->fixed_memory);
  command.add("startup", f->startup)->meaning("time from requesting a GPU to its first item")->or_else("2min");
  command.add("peak", f->peak);
  command.add("slo", f->slo)
      ->meaning("real time: the limit on latency, e.g. p99=250ms")
      ->or_words("p99 of three item times");
  add_price_flag(command, f->price);
  command.add("purchase", f->purchase)->meaning("terms that may be used: on-demand, spot")->or_words("both");
  command.add("spot-price", static_cast<std::vector<std::string>&>(f->spot_price));
  command.add("interruptions", f->interruptions);
  command.add("chunk", f->chunk);
  command.add("gpus", f->gpus)
      ->meaning("GPUs to use; more than the fewest leave time to wait for cheap or clean hours")
      ->or_words("the fewest");
  // A value for every hour, or a file: more than the row of the setting describes.
  const auto hours_of = [](const char* name, std::string& to) {
    return [name, &to](const std::string& text) -> Result<> {
      to = text;
      const settings::Setting& row = settings::get(name);
      if (text.empty()) return fail(bad_input(fmt::format("--{} is empty", name)));
      if (!settings::is_number(row.kind)) return {};
      const bool number = parse_number(text).has_value();
      if (const auto value = settings::read(row, text); number && !value) return fail(value.error());
      if (const auto hours = market::read_hours(name, text); !hours) return fail(hours.error().front());
      return {};
    };
  };
  command.add_unchecked("kwh-price", hours_of("kwh-price", f->kwh_price))
      ->meaning("electricity price, USD per kWh, or a CSV file with hour,value; runs move to the cheapest hours");
  command.add_unchecked("carbon", hours_of("carbon", f->carbon))
      ->meaning("grams of CO2 per kWh, a place, or a CSV file with hour,value; runs move to the cleanest hours");
  command.add("gpu-power", f->gpu_power)->or_words("its TDP");
  command.add("pue", f->pue);
  add_catalog_flag(command, f->catalog);
  return [f] { return run_window(*f); };
}

}  // namespace rightsize::app
