#include "catalog/catalog.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {

std::string_view name_of(NumberFormat format) {
  static constexpr std::string_view kNames[kNumberFormats] = {"fp64", "fp32", "tf32", "fp16",
                                                              "bf16", "fp8",  "int8", "fp4"};
  return kNames[static_cast<int>(format)];
}

std::string_view name_of(Purchase purchase) {
  static constexpr std::string_view kNames[] = {"on-demand", "spot", "1y", "3y", "capacity-block"};
  return kNames[static_cast<int>(purchase)];
}

std::optional<Purchase> parse_purchase(std::string_view name) {
  for (Purchase purchase : kPurchases) {
    if (name_of(purchase) == name) return purchase;
  }
  return std::nullopt;
}

std::optional<FlopsPerSecond> Gpu::half_rate() const {
  const Peak& bf16 = peak(NumberFormat::kBf16);
  return bf16.supported && bf16.dense ? bf16.dense : peak(NumberFormat::kFp16).dense;
}

std::vector<std::string> Catalog::gpu_names() const {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) names.push_back(gpu.name);
  return names;
}

namespace {

bool is_named(const Gpu& gpu, const std::string& folded) {
  if (fold_name(gpu.name) == folded) return true;
  return std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                     [&](const std::string& alias) { return fold_name(alias) == folded; });
}

// "a100" means every a100-..., "a100-80gb" its sxm and pcie forms; "a10" means a10 alone, "h10" nothing.
bool is_of_family(const Gpu& gpu, std::string_view family) { return gpu.name.starts_with(std::string(family) + "-"); }

}  // namespace

Result<std::vector<const Gpu*>> Catalog::match_gpus(std::string_view filter) const {
  const std::string folded = fold_name(filter);
  const std::string family = to_lower(trim(filter));
  std::vector<const Gpu*> found;
  for (const Gpu& gpu : gpus) {
    if (is_named(gpu, folded)) return std::vector<const Gpu*>{&gpu};
    if (!family.empty() && is_of_family(gpu, family)) found.push_back(&gpu);
  }
  if (!found.empty()) return found;
  return fail(bad_input(fmt::format("unknown GPU '{}'", filter.substr(0, 60)))
                  .with_hint(did_you_mean(filter, gpu_names()))
                  .with_hint("'rightsize gpus' lists all"));
}

Result<const Gpu*> Catalog::find_gpu(std::string_view name) const {
  RIGHTSIZE_TRY(std::vector<const Gpu*> found, match_gpus(name));
  if (found.size() == 1) return found[0];
  std::vector<std::string> names(found.size());
  std::transform(found.begin(), found.end(), names.begin(), [](const Gpu* gpu) { return gpu->name; });
  return fail(bad_input(fmt::format("'{}' could be any of {}", name, fmt::join(names, ", ")))
                  .with_hint("write the whole name"));
}

const Machine* Catalog::find_machine(std::string_view provider, std::string_view instance) const {
  auto found = std::find_if(machines.begin(), machines.end(), [&](const Machine& machine) {
    return machine.instance == instance && machine.provider == provider;
  });
  return found == machines.end() ? nullptr : &*found;
}

const Source* Catalog::find_source(std::string_view key) const {
  auto found = std::find_if(sources.begin(), sources.end(), [&](const Source& source) { return source.key == key; });
  return found == sources.end() ? nullptr : &*found;
}

}  // namespace rightsize::catalog
