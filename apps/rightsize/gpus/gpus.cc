// rightsize gpus: hardware facts of the catalogue.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "market/energy.h"
#include "rightsize/command.h"
#include "rightsize/gpus/report.h"
#include "rightsize/gpus/select.h"
#include "rightsize/input/electricity.h"

namespace rightsize::app {
namespace {

struct GpusFlags {
  GpuChoice choice;
  std::string catalog;
  std::vector<std::string> conditions;
  std::size_t top = 0;
  std::optional<int> gpus;
  std::optional<double> kwh_price;
  std::string carbon;
  Seconds hours = kMonth;
  double busy = 1, pue = 1;
};

// "8 x h100-sxm at 100 % load draw 5.60 kW: 4,088 kWh in a month ...": with hosts and with cooling too.
std::string power_sentence(const GpusFlags& flags, const catalog::Gpu& gpu,
                           const std::optional<market::Carbon>& carbon) {
  if (!gpu.tdp) return fmt::format("The power of {} is not in the catalogue.", gpu.name);
  const Watts idle = gpu.idle_power.value_or(Watts{});
  const int count = flags.gpus.value_or(1);
  const auto used = [&](Watts each) {
    const double kilowatts = in_watts(each) * count / 1e3, energy = kilowatts * in_hours(flags.hours);
    return fmt::format(
        "{:.2f} kW, {} kWh{}{}", kilowatts, format_count(std::round(energy)),
        flags.kwh_price ? fmt::format(" for {}", format_usd(usd(energy * *flags.kwh_price))) : "",
        carbon ? fmt::format(", {} kg of CO2", format_count(std::round(energy * carbon->grams_per_kwh / 1e3))) : "");
  };
  const Watts each = idle + (*gpu.tdp - idle) * flags.busy, with_host = each + market::kHostPower;
  return fmt::format(
      "{} x {} at {:g} % load for {}: {}. With their hosts ({:.0f} W per GPU): {}. With cooling (PUE {:g}): {}.{}{}",
      count, gpu.name, 100 * flags.busy, format_duration(flags.hours), used(each), in_watts(market::kHostPower),
      used(with_host), flags.pue, used(with_host * flags.pue),
      carbon ? fmt::format(" The grid{} emits {:g} g per kWh.", carbon->where.empty() ? "" : " of " + carbon->where,
                           carbon->grams_per_kwh)
             : "",
      flags.kwh_price ? "" : " --kwh-price adds the cost.");
}

// "v100-16gb-sxm compared with t4: 1.92 times the fp16 rate, ...": the first GPU of each name against that of the first
// name.
std::string compared(const std::vector<std::string>& names, const catalog::Catalog& catalog) {
  std::vector<const catalog::Gpu*> gpus;
  for (const std::string& name : names) {
    const auto found = catalog.match_gpus(name);
    constexpr std::size_t kFamily = 8;  // more are the GPUs of a vendor
    if (found && !found->empty() && found->size() <= kFamily) gpus.push_back(found->front());
  }
  std::string text;
  for (std::size_t i = 1; i < gpus.size(); ++i) {
    using enum catalog::NumberFormat;
    const catalog::Gpu &first = *gpus.front(), &other = *gpus[i];
    static constexpr std::array kFormats = {kBf16, kFp16, kFp32};
    const auto* format = std::ranges::find_if(
        kFormats, [&](catalog::NumberFormat one) { return first.peak(one).dense && other.peak(one).dense; });
    if (&first == &other || format == kFormats.end()) continue;
    const auto times = [](double ratio, std::string_view what) {
      const bool same = std::abs(ratio - 1) < 0.005;
      return same ? fmt::format("the same {}", what) : fmt::format("{:.3g} times the {}", ratio, what);
    };
    text += fmt::format("{}{} compared with {}: {}, {}, {}.", text.empty() ? "" : " ", other.name, first.name,
                        times(*other.peak(*format).dense / *first.peak(*format).dense,
                              fmt::format("{} rate", catalog::name_of(*format))),
                        times(other.bandwidth / first.bandwidth, "memory bandwidth"),
                        times(other.memory / first.memory, "memory"));
  }
  return text.empty() ? text : text + " Compute limits training and long prompts, bandwidth limits decoding.";
}

Checked<Outcome> run_gpus(const GpusFlags& flags) {
  const bool priced = sorts_by_price(flags.choice);  // prices take longer to load than GPUs
  RIGHTSIZE_TRY(const catalog::Catalog catalog, priced ? open_catalog(flags.catalog) : open_hardware(flags.catalog));
  const auto book = priced ? std::make_unique<market::PriceBook>(catalog) : nullptr;
  RIGHTSIZE_TRY(std::vector<const catalog::Gpu*> gpus, select_gpus(flags.choice, catalog, book.get()));
  if (Result<> kept = keep_matching(gpus, catalog, flags.conditions); !kept) return fail(kept.error());
  if (flags.top > 0 && flags.top < gpus.size()) gpus.resize(flags.top);
  Outcome outcome{gpus_report(gpus, catalog, book.get()), gpus.empty() ? kNoFeasibleAnswer : kDone};
  RIGHTSIZE_TRY(const Electricity grid, read_electricity({{}, flags.carbon, {}}));
  const bool powered = (flags.gpus || flags.kwh_price || grid.carbon) && !gpus.empty();
  const std::string first =
      powered ? power_sentence(flags, *gpus.front(), grid.carbon) : compared(flags.choice.gpus, catalog);
  if (!first.empty()) {
    outcome.report.say(first);
    std::rotate(outcome.report.blocks.begin(), outcome.report.blocks.end() - 1, outcome.report.blocks.end());
  }
  return outcome;
}

}  // namespace

Run add_gpus(FlagSet& command) {
  auto flags = std::make_shared<GpusFlags>();
  command.add("gpu", flags->choice.gpus)
      ->argument()
      ->meaning("GPUs by name or alias, families such as a100, or a vendor");
  command.add("vendor", flags->choice.vendor);
  command.add("min-memory", flags->choice.min_memory);
  command.add("min-bandwidth", flags->choice.min_bandwidth);
  command.add("max-watts", flags->choice.max_watts);
  command.add("supports", flags->choice.supports);
  command.add("filter", flags->conditions)->columns(gpu_columns());
  command.add("sort", flags->choice.sort)
      ->or_else("catalogue")
      ->meaning("catalogue, memory, bandwidth, bf16, tdp, bf16-per-watt, year or price");
  command.add("gpus", flags->gpus)
      ->meaning("also the power and energy of this many of the first GPU, with their hosts");
  command.add("hours", flags->hours)->meaning("time of that energy")->or_else("730h");
  command.add("busy-share", flags->busy)->meaning("load of the GPUs over that time")->or_else("1");
  command.add("kwh-price", flags->kwh_price)->meaning("price of electricity, USD per kWh: adds its cost");
  command.add("carbon", flags->carbon)->meaning("carbon dioxide of that energy: grams per kWh, or a place");
  command.add("pue", flags->pue);
  command.add("top", flags->top)->or_else("0");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_gpus(*flags); };
}

}  // namespace rightsize::app
