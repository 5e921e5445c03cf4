#include "market/running_time.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/date.h"

namespace rightsize::market {
namespace {

// Interruptions of the whole job per second: any one machine or GPU stops it.
double interruption_rate(catalog::Purchase purchase, int machines, int gpus, const Assumptions& a) {
  const double taken_back = purchase == catalog::Purchase::kSpot ? a.spot_interruptions_per_hour * machines : 0;
  return (taken_back + a.failures_per_gpu_hour * gpus) / 3600.0;
}

}  // namespace

std::optional<RunningTime> running_time(Seconds work, Bytes checkpoint, catalog::Purchase purchase, int machines,
                                        int gpus, const Assumptions& a) {
  RunningTime time{work, a.startup, {}, {}};
  const double rate = interruption_rate(purchase, machines, gpus, a);
  if (!(rate > 0) || !(work > Seconds{})) return time;
  const double save = std::max(1.0, in_seconds(checkpoint / a.checkpoint_rate));
  const double interval = std::min(std::sqrt(2 * save / rate), std::max(save, in_seconds(work)));
  const double saving = save / interval, redoing = rate * (interval / 2 + in_seconds(a.restart));
  const double useful = 1 - saving - redoing;
  constexpr double kHopeless = 0.1;
  if (useful < kHopeless) return std::nullopt;
  time.saving = work * (saving / useful);
  time.redoing = work * (redoing / useful);
  return time;
}

Usd side_costs(Seconds total, const Assumptions& a) {
  constexpr double kMonthHours = 730, kGigabyte = 1e9;
  const double months = in_hours(total) / kMonthHours;
  return usd(in_bytes(a.storage) / kGigabyte * a.storage_usd_per_gb_month * months +
             in_bytes(a.egress) / kGigabyte * a.egress_usd_per_gb);
}

std::optional<UsdPerSecond> hourly_cost(const OwnHardware& own, const catalog::Gpu& gpu) {
  if (!gpu.tdp) return std::nullopt;
  constexpr double kYearHours = 8760;
  const double kilowatts =
      (in_watts(*gpu.tdp) * own.gpus + in_watts(own.host_power)) * own.power_usage_effectiveness / 1e3;
  return usd_per_hour(in_usd(own.price) / (own.years * kYearHours * own.busy) + kilowatts * own.usd_per_kwh);
}

std::string own_instance(const OwnHardware& own) { return fmt::format("{}x{}", own.gpus, own.gpu); }

Result<> add_own_hardware(catalog::Catalog& catalog, const OwnHardware& own) {
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(own.gpu));
  const std::optional<UsdPerSecond> rate = hourly_cost(own, *gpu);
  if (!rate) return fail(bad_input(fmt::format("the catalogue does not know the power of {}", gpu->name)));
  catalog::Machine machine;
  machine.provider = kOwnProvider;
  machine.instance = own_instance(own);
  machine.gpu = gpu->name;
  machine.gpus = own.gpus;
  machine.interconnect = gpu->nvlink_kind == "switch" ? "nvswitch" : "pcie";
  machine.provenance.note = "yours";
  catalog::Price price;
  price.provider = machine.provider;
  price.instance = machine.instance;
  price.region = "any";
  price.purchase = catalog::Purchase::kOnDemand;
  price.machine_price = *rate;
  price.provenance.sources = {kOwnProvider};
  price.provenance.date = today();
  catalog.sources.push_back({kOwnProvider, "your own figures: price, years, power", "", "", today(), ""});
  catalog.machines.push_back(std::move(machine));
  catalog.prices.push_back(std::move(price));
  return {};
}

}  // namespace rightsize::market
