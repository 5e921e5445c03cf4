// The flags of `mig` and what they name.
#include "rightsize/mig/input.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "diagnose/observer.h"
#include "rightsize/input/named_gpu.h"
#include "telemetry/live.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using mig::Fleet;
using mig::Geometry;
using mig::GpuType;

Result<std::vector<const Gpu*>> named_gpus(const std::vector<std::string>& names, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(std::vector<const Gpu*> matched, catalog.match_gpus(name));
    for (const Gpu* gpu : matched) {
      if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  return gpus;
}

std::vector<std::string> partitionable(const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Gpu& gpu : catalog.gpus) {
    if (Geometry::of(catalog, gpu)) names.push_back(gpu.name);
  }
  return names;
}

Error not_partitionable(const Gpu& gpu, const catalog::Catalog& catalog) {
  return bad_input(fmt::format("{} cannot be cut into MIG slices", gpu.name))
      .with_hint(fmt::format("those that can: {}", fmt::join(partitionable(catalog), ", ")));
}

Result<const Gpu*> gpu_asked_about(const MigFlags& flags, const catalog::Catalog& catalog) {
  if (flags.gpus.size() == 1) return named_gpu(catalog, flags.gpus[0]);
  if (!flags.gpus.empty() || flags.current != "nvml") {
    return fail(bad_input("which GPU?").with_hint("add one: --gpu h100-sxm"));
  }
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, telemetry::read_mig_layout());
  for (const telemetry::MigLayout& layout : layouts) {
    if (!layout.enabled) continue;
    if (const Gpu* gpu = diagnose::identify(catalog, layout.gpu)) return gpu;
    return fail(bad_input(fmt::format("the catalogue does not know '{}'", layout.gpu.name))
                    .with_hint("say which it is: --gpu h100-sxm"));
  }
  return fail(unreadable("no GPU of this machine is in MIG mode").with_hint("nvidia-smi -i 0 -mig 1 turns it on"));
}

// The GPUs of this machine as the driver has cut them. Who uses an instance NVML does not say: each counts as used,
// under the name the table of `nvidia-smi mig -lgi` would give it.
Checked<Fleet> fleet_here(const Geometry& geometry) {
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, telemetry::read_mig_layout());
  Fleet fleet;
  for (const telemetry::MigLayout& layout : layouts) {
    if (!layout.enabled) continue;
    mig::RunningGpu gpu{std::to_string(layout.gpu.index), {}};
    for (const telemetry::MigInstance& instance : layout.instances) {
      RIGHTSIZE_TRY(const int profile, geometry.find_profile(instance.profile));
      const mig::Instance where{profile, instance.start};
      if (!geometry.may_join(gpu.layout(), where)) {
        return fail(bad_input(fmt::format("GPU {} has {} at {}, which cannot be on one {}", layout.gpu.index,
                                          instance.profile, instance.start, geometry.gpu().name))
                        .with_hint(fmt::format("is it another GPU? The driver calls it '{}'", layout.gpu.name)));
      }
      gpu.instances.push_back({where, fmt::format("gpu{}-gi{}", layout.gpu.index, instance.id)});
    }
    fleet.push_back(std::move(gpu));
  }
  if (!fleet.empty()) return fleet;
  return fail(unreadable("no GPU of this machine is in MIG mode").with_hint("nvidia-smi -i 0 -mig 1 turns it on"));
}

}  // namespace

Result<std::vector<GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                           const market::PriceBook& prices, catalog::Purchase purchase) {
  const catalog::Catalog& catalog = prices.catalog();
  const bool named = !flags.gpus.empty() || !file.gpus.empty();
  RIGHTSIZE_TRY(std::vector<const Gpu*> gpus, named_gpus(flags.gpus.empty() ? file.gpus : flags.gpus, catalog));
  if (!named) {
    for (const Gpu& gpu : catalog.gpus) gpus.push_back(&gpu);
  }
  std::vector<GpuType> types;
  for (const Gpu* gpu : gpus) {
    std::optional<Geometry> geometry = Geometry::of(catalog, *gpu);
    if (!geometry && !named) continue;
    if (!geometry) return fail(not_partitionable(*gpu, catalog));
    std::optional<GpuType> type = mig::priced_type(prices, *gpu, purchase);
    if (!type && !named) continue;
    if (!type) {
      return fail(bad_input(fmt::format("the catalogue has no {} price for {}", catalog::name_of(purchase), gpu->name))
                      .with_hint(fmt::format("give yours: --price {}=2.50USD/h", gpu->name)));
    }
    types.push_back(*std::move(type));
  }
  return types;
}

Result<Ratio> parse_headroom(const std::string& text) {
  const std::string_view digits =
      trim(std::string_view(text).substr(0, text.ends_with('%') ? text.size() - 1 : text.size()));
  const Result<double> number = parse_number(digits);
  const double fraction = number ? (text.ends_with('%') ? *number / 100 : *number) : -1;
  if (fraction >= 0 && fraction <= 10) return Ratio::fraction(fraction);
  return fail(bad_input(fmt::format("--headroom takes a share such as 20%, not '{}'", text)));
}

Result<Geometry> geometry_asked_about(const MigFlags& flags, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const Gpu* gpu, gpu_asked_about(flags, catalog));
  if (std::optional<Geometry> geometry = Geometry::of(catalog, *gpu)) return *std::move(geometry);
  return fail(not_partitionable(*gpu, catalog));
}

Checked<Fleet> read_fleet(const Geometry& geometry, const std::string& current) {
  if (current == "nvml") return fleet_here(geometry);
  RIGHTSIZE_TRY(const std::string text, read_file(current));
  return mig::read_current(current, text, geometry);
}

}  // namespace rightsize::app
