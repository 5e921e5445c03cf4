#include "market/own_hardware.h"

#include <fmt/format.h>

#include "base/date.h"
#include "market/energy.h"
#include "market/offers.h"

namespace rightsize::market {

UsdPerMachineSecond hourly_cost(const OwnHardware& own, Watts machine) {
  const double kilowatts = in_watts(machine) * own.power_usage_effectiveness / 1e3;
  return usd_per_machine_hour(in_usd(own.price) / (own.years * in_hours(kYear) * own.busy) +
                              kilowatts * own.usd_per_kwh);
}

std::string own_instance(const OwnHardware& own) { return fmt::format("{}x{}", own.gpus, own.gpu); }

namespace {

Result<> add_machine(catalog::Catalog& catalog, const OwnHardware& own) {
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(own.gpu));
  if (!gpu->tdp) return fail(bad_input(fmt::format("the power of {} is not in the catalogue", gpu->name)));
  catalog::Machine machine;
  machine.provider = kOwn;
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
  price.machine_price = hourly_cost(own, (*gpu->tdp + kHostPower) * own.gpus);
  price.provenance.sources = {kOwn};
  price.provenance.date = today();
  catalog.sources.push_back({kOwn, "your own figures: price, years, power", "", "", today(), ""});
  catalog.machines.push_back(std::move(machine));
  catalog.prices.push_back(std::move(price));
  return {};
}

}  // namespace

Result<> add_own_hardware(catalog::Catalog& catalog, const std::vector<OwnHardware>& machines) {
  for (const OwnHardware& own : machines) {
    if (Result<> added = add_machine(catalog, own); !added) return added;
  }
  return {};
}

}  // namespace rightsize::market
