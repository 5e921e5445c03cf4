#include "rightsize/window/input.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

Checked<WindowProblem> with_prices(const WindowFlags& flags, const catalog::Catalog& catalog, WindowProblem problem) {
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

// The largest batch that fits into memory.
Result<int> largest_batch(const WindowFlags& flags, const catalog::Catalog& catalog, const WindowProblem& problem,
                          int most) {
  if (!flags.item_memory) return most;
  if (problem.gpu.empty()) return fail(bad_input("--item-memory needs --gpu"));
  const Bytes item = *flags.item_memory, fixed = flags.fixed_memory;
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(problem.gpu));
  const double fits = std::floor((gpu->capacity() - fixed) / item);
  if (fits < 1) {
    return fail(bad_input(fmt::format("one item and the model need {}; {} has {}", format_bytes(fixed + item),
                                      gpu->name, format_bytes(gpu->capacity()))));
  }
  return std::min(most, static_cast<int>(std::min(fits, 65536.0)));
}

capacity::Replica replica_of(const sim::TableTime& table) {
  capacity::Replica replica;
  replica.continuous = false;
  replica.times = sim::tabulate(table, table.largest_batch());
  for (const sim::TableTime::Row& row : table.rows()) replica.sizes.push_back(row.batch);
  return replica;
}

Checked<WindowProblem> read_times(const WindowFlags& flags, const catalog::Catalog& catalog, WindowProblem problem) {
  if (flags.service.empty()) {
    if (!flags.item_time)
      return fail(bad_input("the time of an item is missing")
                      .with_hint("--item-time 80ms, or --service FILE.csv with batch times"));
    const Seconds time = *flags.item_time;
    RIGHTSIZE_TRY([[maybe_unused]] const int fits, largest_batch(flags, catalog, problem, 1));
    problem.single = problem.work.item_time = time;
    problem.replica = replica_of(sim::TableTime({{1, {time, time}}}, false));
    return problem;
  }
  RIGHTSIZE_TRY(std::string text, read_file(flags.service));
  RIGHTSIZE_TRY(std::vector<sim::TableTime::Row> rows, sim::parse_service_table(flags.service, std::move(text)));
  const sim::TableTime table(std::move(rows), flags.pad);
  RIGHTSIZE_TRY(const int most, largest_batch(flags, catalog, problem, table.largest_batch()));
  problem.replica = replica_of(table);
  problem.single = table.time_of(1).p50;
  problem.work.item_time = problem.single;
  for (int batch = 1; batch <= most; ++batch) {
    const Seconds each = table.time_of(batch).p50 / batch;
    if (each <= problem.work.item_time) problem.work.item_time = each, problem.batch = batch;
  }
  return problem;
}

Result<> read_work(const WindowFlags& flags, const catalog::Catalog& catalog, WindowProblem& problem) {
  if (flags.window > days(1)) return fail(bad_input("--window must be at most a day"));
  problem.work = {
      flags.volume * days(1) / requests(1), flags.window, flags.deadline.value_or(flags.window), {}, flags.startup};
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(const catalog::Gpu* gpu, named_gpu(catalog, flags.gpu));
    problem.gpu = gpu->name;
  }
  problem.peak = flags.peak;
  problem.interruptions = flags.interruptions;
  problem.chunk = flags.chunk;
  return {};
}

}  // namespace

Checked<WindowProblem> read_problem(const WindowFlags& flags, const catalog::Catalog& catalog) {
  WindowProblem problem;
  if (Result<> work = read_work(flags, catalog, problem); !work) return fail(work.error());
  RIGHTSIZE_TRY(problem, with_prices(flags, catalog, std::move(problem)));
  RIGHTSIZE_TRY(problem, read_times(flags, catalog, std::move(problem)));
  const Seconds left = std::min(problem.work.deadline, problem.work.window) - problem.work.startup;
  if (left > Seconds{} && problem.single > left)
    return fail(bad_input(fmt::format("one item takes {}, longer than the {} between start-up and deadline",
                                      format_duration(problem.single), format_duration(left))));
  problem.slo = {capacity::Quantity::kLatency, capacity::Statistic::kP99, problem.single * 3};
  if (!flags.slo.empty()) {
    RIGHTSIZE_TRY(const std::vector<capacity::Slo> slos, capacity::parse_slos(flags.slo));
    problem.slo = slos.front();
    if (slos.size() > 1 || problem.slo.quantity != capacity::Quantity::kLatency)
      return fail(bad_input("--slo must be one limit on latency").with_hint("for example p99=250ms"));
  }
  return problem;
}

}  // namespace rightsize::app
