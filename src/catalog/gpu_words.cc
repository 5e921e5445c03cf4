#include "catalog/gpu_words.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace rightsize::catalog {
namespace {

std::optional<int> as_count(std::string_view text) {
  int count = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = problem == std::errc() && stop == text.data() + text.size();
  return whole && count >= 1 && count <= 65536 ? std::optional(count) : std::nullopt;
}

// Sockets before slots, then by how many machines have it.
auto usualness(const Catalog& catalog, const Gpu& gpu) {
  const auto machines = std::count_if(catalog.machines.begin(), catalog.machines.end(),
                                      [&](const Machine& machine) { return machine.gpu == gpu.name; });
  return std::pair(gpu.name.ends_with("-sxm"), machines);
}

}  // namespace

CountedGpu split_gpu_count(std::string_view text) {
  text = trim(text);
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos && colon > 0) {
    if (const auto count = as_count(trim(text.substr(colon + 1))))
      return {std::string(trim(text.substr(0, colon))), count};
  }
  const std::size_t x = text.find_first_of("xX*");
  if (x != std::string_view::npos && x + 1 < text.size()) {
    if (const auto count = as_count(trim(text.substr(0, x)))) return {std::string(trim(text.substr(x + 1))), count};
  }
  return {std::string(text), std::nullopt};
}

Result<UsualGpu> usual_gpu(const Catalog& catalog, std::string_view name) {
  RIGHTSIZE_TRY(const std::vector<const Gpu*> found, catalog.match_gpus(name));
  const Gpu* usual = *std::max_element(found.begin(), found.end(), [&](const Gpu* a, const Gpu* b) {
    return usualness(catalog, *a) < usualness(catalog, *b);
  });
  UsualGpu chosen{usual, {}};
  for (const Gpu* gpu : found) {
    if (gpu != usual) chosen.others.push_back(gpu->name);
  }
  return chosen;
}

}  // namespace rightsize::catalog
