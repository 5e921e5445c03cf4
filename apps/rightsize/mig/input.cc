#include "rightsize/mig/input.h"

#include <algorithm>
#include <cctype>
#include <map>

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
using mig::Geometry;
using mig::GpuType;
using mig::RunningGpus;

std::vector<std::string> partitionable(const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Gpu& gpu : catalog.gpus) {
    if (Geometry::of(catalog, gpu)) names.push_back(gpu.name);
  }
  return names;
}

Error not_partitionable(const Gpu& gpu, const catalog::Catalog& catalog) {
  return bad_input(fmt::format("{} does not support MIG", gpu.name))
      .with_hint(fmt::format("these do: {}", fmt::join(partitionable(catalog), ", ")));
}

// The GPUs of this machine in MIG mode.
Result<std::vector<telemetry::MigLayout>> layouts_here() {
  RIGHTSIZE_TRY(std::vector<telemetry::MigLayout> layouts, telemetry::read_mig_layout());
  std::erase_if(layouts, [](const telemetry::MigLayout& layout) { return !layout.enabled; });
  if (!layouts.empty()) return layouts;
  return fail(unreadable("no GPU of this machine is in MIG mode").with_hint("'nvidia-smi -i 0 -mig 1' turns it on"));
}

Result<const Gpu*> chosen_gpu(const MigFlags& flags, const catalog::Catalog& catalog) {
  if (flags.gpus.size() == 1) return named_gpu(catalog, flags.gpus[0]);
  if (!flags.gpus.empty() || flags.current != "nvml") {
    return fail(bad_input("--gpu is missing").with_hint("for example --gpu h100-sxm"));
  }
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, layouts_here());
  if (const Gpu* gpu = diagnose::identify(catalog, layouts.front().gpu)) return gpu;
  return fail(bad_input(fmt::format("'{}' is not in the catalogue", layouts.front().gpu.name))
                  .with_hint("pass its name: --gpu h100-sxm"));
}

// The GPUs of this machine. NVML does not report who uses an instance, so every instance counts as used, under its name
// in `nvidia-smi mig -lgi`.
Checked<RunningGpus> gpus_here(const Geometry& geometry) {
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, layouts_here());
  RunningGpus gpus;
  for (const telemetry::MigLayout& layout : layouts) {
    mig::RunningGpu gpu{std::to_string(layout.gpu.index), {}};
    for (const telemetry::MigInstance& instance : layout.instances) {
      RIGHTSIZE_TRY(const int profile, geometry.find_profile(instance.profile));
      const mig::Instance where{profile, instance.start};
      if (!geometry.may_join(gpu.layout(), where)) {
        return fail(bad_input(fmt::format("GPU {} has {} at {}, which does not fit a {}", layout.gpu.index,
                                          instance.profile, instance.start, geometry.gpu().name))
                        .with_hint(fmt::format("check --gpu: the driver calls it '{}'", layout.gpu.name)));
      }
      gpu.instances.push_back({where, fmt::format("gpu{}-gi{}", layout.gpu.index, instance.id)});
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace

std::string workloads_of(const std::vector<std::string>& models) {
  std::map<std::string, int> counts;
  for (const std::string& model : models) ++counts[model];
  std::string text = "workloads:\n";
  for (const auto& [model, count] : counts) {
    std::string name = to_lower(model.substr(model.rfind('/') + 1));
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
    text += fmt::format("- {{name: '{}', model: '{}', replicas: {}}}\n", name, model, count);
  }
  return text;
}

Result<std::vector<GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                           const market::PriceBook& prices, catalog::Purchase purchase) {
  const catalog::Catalog& catalog = prices.catalog();
  const std::vector<std::string>& names = flags.gpus.empty() ? file.gpus : flags.gpus;
  std::vector<GpuType> types;
  const auto add = [&](const Gpu& gpu) -> Result<> {
    if (std::ranges::find(types, &gpu, &GpuType::gpu) != types.end()) return {};
    if (!Geometry::of(catalog, gpu)) return fail(not_partitionable(gpu, catalog));
    std::optional<GpuType> type = mig::priced_type(prices, gpu, purchase);
    if (!type) {
      return fail(bad_input(fmt::format("the catalogue has no {} price for {}", catalog::name_of(purchase), gpu.name))
                      .with_hint(fmt::format("pass yours: --price {}=2.50USD/h", gpu.name)));
    }
    types.push_back(*std::move(type));
    return {};
  };
  if (names.empty()) {
    for (const Gpu& gpu : catalog.gpus) static_cast<void>(add(gpu));
  }
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> matched, catalog.match_gpus(name));
    // From a GPU family, take the members that support MIG.
    std::optional<Error> first;
    bool any = false;
    for (const Gpu* gpu : matched) {
      const Result<> added = add(*gpu);
      any = any || added.has_value();
      if (!added && !first) first = added.error();
    }
    if (!any) return fail(*first);
  }
  return types;
}

Result<Geometry> chosen_geometry(const MigFlags& flags, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const Gpu* gpu, chosen_gpu(flags, catalog));
  if (std::optional<Geometry> geometry = Geometry::of(catalog, *gpu)) return *std::move(geometry);
  return fail(not_partitionable(*gpu, catalog));
}

Checked<RunningGpus> read_current_gpus(const Geometry& geometry, const std::string& current) {
  if (current == "nvml") return gpus_here(geometry);
  RIGHTSIZE_TRY(const std::string text, read_file(current));
  return mig::read_current(current, text, geometry);
}

}  // namespace rightsize::app
