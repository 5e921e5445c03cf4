#include "rightsize/window/input.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/day_hours.h"
#include "base/file.h"
#include "base/format.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

// The largest batch that fits into memory.
Result<int> largest_batch(const WindowFlags& flags, const catalog::Gpu* gpu, int most) {
  if (!flags.item_memory) return most;
  if (gpu == nullptr) return fail(bad_input("--item-memory needs --gpu"));
  const Bytes item = *flags.item_memory, fixed = flags.fixed_memory;
  const double fits = std::floor((gpu->capacity() - fixed) / item);
  if (fits >= 1) return static_cast<int>(std::min<double>(fits, most));
  return fail(bad_input(fmt::format("one item and the model need {}; {} has {}", format_bytes(fixed + item), gpu->name,
                                    format_bytes(gpu->capacity()))));
}

// A measured table, or the time of one item alone.
Checked<sim::TableTime> read_times(const WindowFlags& flags) {
  std::vector<sim::TableTime::Row> rows;
  if (!flags.service.empty()) {
    RIGHTSIZE_TRY(std::string text, read_file(flags.service));
    RIGHTSIZE_TRY(sim::ServiceTable table, sim::parse_service_table(flags.service, std::move(text)));
    for (const std::string& words : table.notes) note(words);
    rows = std::move(table.rows);
  } else if (flags.item_time) {
    rows = {{1, {*flags.item_time, *flags.item_time}}};
  } else {
    return fail(bad_input("the time of an item is missing")
                    .with_hint("--item-time 80ms, or --service FILE.csv with batch times"));
  }
  return sim::TableTime(std::move(rows), flags.pad);
}

Checked<std::optional<WindowPower>> read_window_power(const WindowFlags& flags, const catalog::Gpu* gpu) {
  WindowPower power{.gpu = {}, .host = market::kHostPower, .pue = flags.pue};
  if (!flags.gpu_power.empty()) {
    RIGHTSIZE_TRY(power.gpu, market::read_power("gpu-power", flags.gpu_power));
    power.measured = true;
  } else if (gpu != nullptr && gpu->tdp) {
    power.gpu = *gpu->tdp;
  }
  if (!flags.kwh_price.empty()) {
    RIGHTSIZE_TRY(power.usd_per_kwh, market::read_hours("kwh-price", flags.kwh_price));
  }
  if (!flags.carbon.empty()) {
    const Result<market::CarbonChoice> place = market::read_carbon(flags.carbon);
    if (place && place->everywhere) {
      power.grams_per_kwh.assign(24, place->everywhere->grams_per_kwh);
    } else {
      RIGHTSIZE_TRY(power.grams_per_kwh, market::read_hours("carbon", flags.carbon));
    }
  }
  if (power.gpu > Watts{}) return power;
  if (power.usd_per_kwh.empty() && power.grams_per_kwh.empty()) return std::nullopt;
  return fail(bad_input("the power of the GPU is unknown").with_hint("pass --gpu h100-sxm or --gpu-power 450W"));
}

bool changes(const std::vector<double>& by_hour) {
  return !by_hour.empty() && std::ranges::any_of(by_hour, [&](double value) { return value != by_hour.front(); });
}

}  // namespace

Result<> read_window(const std::string& text, WindowFlags& flags) {
  if (const std::optional<DayHours> hours = hours_of_day(text)) {
    flags.opens = hours->from;
    flags.window = days(1);
    if (!flags.deadline) flags.deadline = hours->length;
    return {};
  }
  RIGHTSIZE_TRY(const settings::Value value, settings::read(settings::get("window"), text));
  flags.window = seconds(value.number);
  return {};
}

Checked<WindowProblem> read_problem(WindowFlags flags, const catalog::Catalog& catalog) {
  if (flags.volume.has_value() == flags.items.has_value())
    return fail(bad_input("give the work: either --volume or --items").with_hint("--volume 1M/d, or --items 1M a day"));
  if (flags.items) flags.volume = requests(static_cast<double>(*flags.items)) / days(1);
  if (!flags.window) flags.window = flags.items ? days(1) : hours(4);
  if (*flags.window > days(1)) return fail(bad_input("--window must be at most a day"));
  WindowProblem problem{.given = flags};
  problem.work = {*flags.volume * days(1) / requests(1),
                  *flags.window,
                  flags.deadline.value_or(*flags.window),
                  {},
                  flags.startup,
                  flags.opens.value_or(Seconds{}),
                  0,
                  {}};
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(catalog, flags.gpu));
    problem.gpu = gpu->name;
  }
  RIGHTSIZE_TRY(problem.power, read_window_power(flags, gpu));
  problem.work.gpus = flags.gpus.value_or(0);
  if (problem.power && changes(problem.power->usd_per_kwh))
    problem.work.by_hour = problem.power->usd_per_kwh;
  else if (problem.power && changes(problem.power->grams_per_kwh))
    problem.work.by_hour = problem.power->grams_per_kwh;
  RIGHTSIZE_TRY(const market::PriceBook on_demand, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(const market::PriceBook spot, open_prices(catalog, flags.spot_price, "--spot-price"));
  problem.on_demand = gpu != nullptr ? on_demand.gpu(*gpu, catalog::Purchase::kOnDemand) : on_demand.own_gpu("");
  problem.spot = gpu != nullptr ? spot.gpu(*gpu, catalog::Purchase::kSpot) : spot.own_gpu("");

  RIGHTSIZE_TRY(const sim::TableTime table, read_times(flags));
  RIGHTSIZE_TRY(const int most, largest_batch(flags, gpu, table.largest_batch()));
  problem.replica = capacity::measured_replica(table, table.largest_batch());
  const Seconds single = problem.work.item_time = table.time_of(1).p50;
  for (int batch = 1; batch <= most; ++batch) {
    const Seconds each = table.time_of(batch).p50 / batch;
    if (each <= problem.work.item_time) problem.work.item_time = each, problem.batch = batch;
  }
  const Seconds left = std::min(problem.work.deadline, problem.work.window) - problem.work.startup;
  if (left > Seconds{} && single > left)
    return fail(bad_input(fmt::format("one item takes {}, longer than the {} between start-up and deadline",
                                      format_duration(single), format_duration(left))));
  problem.slo = {capacity::Quantity::kLatency, capacity::Statistic::kP99, single * 3};
  if (flags.slo.empty()) return problem;
  RIGHTSIZE_TRY(const std::vector<capacity::Slo> slos, capacity::parse_slos(flags.slo));
  problem.slo = slos.front();
  if (slos.size() > 1 || problem.slo.quantity != capacity::Quantity::kLatency)
    return fail(bad_input("--slo must be one limit on latency").with_hint("for example p99=250ms"));
  return problem;
}

}  // namespace rightsize::app
