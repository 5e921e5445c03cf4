#include "rightsize/gpus/select.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

struct SortKey {
  const char* name;
  double (*value)(const Gpu&);  // larger comes first; none: the order of the catalogue, or by price
  const char* others = "";      // other names, between spaces
};

constexpr SortKey kSortKeys[] = {
    {"catalogue", nullptr},
    {"memory", [](const Gpu& g) { return in_bytes(g.memory); }, "vram ram"},
    {"bandwidth", [](const Gpu& g) { return in_bytes_per_s(g.bandwidth); }},
    {"bf16", [](const Gpu& g) { return g.half_rate() ? in_flop_per_s(*g.half_rate()) : 0.0; },
     "fp16 tflops flops speed"},
    {"tdp", [](const Gpu& g) { return g.tdp ? in_watts(*g.tdp) : 0.0; }, "watts power"},
    {"bf16-per-watt",
     [](const Gpu& g) { return g.half_rate() && g.tdp ? in_flop_per_s(*g.half_rate()) / in_watts(*g.tdp) : 0.0; },
     "efficiency tflops-per-watt flops-per-watt"},
    {"year", [](const Gpu& g) { return static_cast<double>(g.year.value_or(0)); }},
    {"price", nullptr, "cost usd dollars cheapest"},
};

bool is_called(const SortKey& key, std::string_view name) {
  const std::vector<std::string_view> others = split_list(key.others, ' ');
  return key.name == name || std::ranges::find(others, name) != others.end();
}

bool computes_in(const Gpu& gpu, std::string_view format) {
  for (int i = 0; i < catalog::kNumberFormats; ++i) {
    if (name_of(static_cast<catalog::NumberFormat>(i)) == format) return gpu.peaks[i].supported;
  }
  return false;
}

// GPUs by name, family or vendor, or with at least a given memory size (80GB). The count of "H100:8" is ignored.
Result<std::vector<const Gpu*>> named(const std::string& name, const catalog::Catalog& catalog) {
  Result<std::vector<const Gpu*>> gpus = catalog::gpus_meant(catalog::split_gpu_count(name).name, catalog);
  const Result<Bytes> memory = parse_bytes(name);
  if (gpus || !memory || in_gib(*memory) < 1) return gpus;
  std::vector<const Gpu*> large;
  for (const Gpu& gpu : catalog.gpus) {
    if (gpu.memory >= *memory) large.push_back(&gpu);
  }
  return large.empty() ? gpus : large;
}

Result<std::vector<const Gpu*>> matching(const GpuChoice& choice, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : catalog.gpus) {
    if (choice.gpus.empty()) gpus.push_back(&gpu);
  }
  std::vector<std::string> names = choice.gpus;
  // `gpus A100 80GB`, without quotes.
  if (names.size() == 2 && !named(names[1], catalog) && catalog.match_gpus(names[0] + "-" + names[1]))
    names = {names[0] + "-" + names[1]};
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> found, named(name, catalog));
    for (const Gpu* gpu : found) {
      if (std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  if (!choice.vendor.empty()) {
    std::vector<std::string> vendors;
    for (const Gpu& gpu : catalog.gpus) vendors.push_back(gpu.vendor);
    std::ranges::sort(vendors);
    vendors.erase(std::unique(vendors.begin(), vendors.end()), vendors.end());
    auto is_vendor = [&](const std::string& vendor) { return fold_name(vendor) == fold_name(choice.vendor); };
    if (std::ranges::none_of(vendors, is_vendor))
      return fail(bad_input("unknown vendor '" + choice.vendor + "'").with_hint(did_you_mean(choice.vendor, vendors)));
    std::erase_if(gpus, [&](const Gpu* gpu) { return !is_vendor(gpu->vendor); });
  }
  std::erase_if(gpus, [&](const Gpu* gpu) { return gpu->memory < choice.min_memory.value_or(Bytes{}); });
  std::erase_if(gpus, [&](const Gpu* gpu) { return gpu->bandwidth < choice.min_bandwidth.value_or(BytesPerSecond{}); });
  if (choice.max_watts)
    std::erase_if(gpus, [&](const Gpu* gpu) { return !gpu->tdp || in_watts(*gpu->tdp) > *choice.max_watts; });
  if (!choice.supports.empty())
    std::erase_if(gpus, [&](const Gpu* gpu) { return !computes_in(*gpu, choice.supports); });
  return gpus;
}

Result<> sort_gpus(std::vector<const Gpu*>& gpus, const std::string& name, const market::PriceBook* book) {
  std::vector<std::string> names;
  for (const SortKey& key : kSortKeys) {
    names.emplace_back(key.name);
    if (!is_called(key, name)) continue;
    if (book != nullptr) {
      const auto usd = [&](const Gpu* gpu) {
        const std::optional<UsdPerGpuSecond> price = price_of(*gpu, book);
        return std::pair(!price, price.value_or(UsdPerGpuSecond{}));  // those without a price come last
      };
      std::ranges::stable_sort(gpus, {}, usd);
    }
    if (key.value == nullptr) return {};
    std::ranges::stable_sort(gpus, [&](const Gpu* a, const Gpu* b) { return key.value(*a) > key.value(*b); });
    return {};
  }
  return fail(bad_input("cannot sort by '" + name + "'")
                  .with_hint(did_you_mean(name, names))
                  .with_hint(fmt::format("use {}", fmt::join(names, ", "))));
}

}  // namespace

bool sorts_by_price(const GpuChoice& choice) { return is_called(std::end(kSortKeys)[-1], choice.sort); }

std::optional<UsdPerGpuSecond> price_of(const Gpu& gpu, const market::PriceBook* book) {
  const auto quote = book == nullptr ? std::nullopt : book->gpu(gpu, catalog::Purchase::kOnDemand);
  return quote ? std::optional(quote->rate) : std::nullopt;
}

Result<std::vector<const Gpu*>> select_gpus(const GpuChoice& choice, const catalog::Catalog& catalog,
                                            const market::PriceBook* book) {
  RIGHTSIZE_TRY(std::vector<const Gpu*> gpus, matching(choice, catalog));
  if (Result<> sorted = sort_gpus(gpus, choice.sort, book); !sorted) return fail(std::move(sorted).error());
  return gpus;
}

}  // namespace rightsize::app
