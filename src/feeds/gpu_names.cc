#include "feeds/gpu_names.h"

#include <algorithm>

#include "base/text.h"

namespace rightsize::feeds {
namespace {

using catalog::Gpu;

std::string plain(std::string_view text) {
  std::string letters;
  for (const char c : to_lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  return letters;
}

bool is_form(const Gpu& gpu, std::string_view form) { return gpu.name.find(form) != std::string::npos; }

// The form factor in the texts, as our names write it.
std::string form_of(const FeedRow& row) {
  const std::string text = plain(row.gpu) + " " + plain(row.instance);
  for (const char* form : {"pcie", "nvl", "sxm"}) {
    if (text.find(form) != std::string::npos &&
        !(std::string_view(form) == "nvl" && text.find("nvlink") != std::string::npos)) {
      return form;
    }
  }
  if (row.provider == "aws" || row.provider == "gcp" || row.provider == "oci" || row.provider == "mithril")
    return "sxm";
  return {};
}

}  // namespace

std::vector<std::string> spellings(std::string_view name) {
  std::vector<std::string> all{std::string(name)};
  std::string shorter(name);
  for (const char* part : {"NVIDIA ", "Tesla ", "GeForce ", "-MEGA", "-CC", " 96GB", "-NVLink", "-NVLINK", "-40GB",
                           "-80GB", "-32GB", "-16GB"}) {
    const std::size_t at = shorter.find(part);
    if (at != std::string::npos) shorter.erase(at, std::string_view(part).size());
  }
  for (const char* part : {"-80G-", "-40G-"}) {
    const std::size_t at = shorter.find(part);
    if (at != std::string::npos) shorter.replace(at, 5, "-");
  }
  if (shorter != name) all.push_back(shorter);
  return all;
}

bool memory_agrees(const Gpu& gpu, double gib) {
  const double ratio = gib / in_gib(gpu.memory);
  return ratio > 0.88 && ratio < 1.1;
}

Result<ResolvedGpu> resolve_gpu(const catalog::Catalog& catalog, const FeedRow& row, std::vector<const Gpu*> found) {
  if (found.empty()) return fail(bad_input("GPU not in the catalogue"));
  bool named_exactly = found.size() == 1;
  // An alias such as "A100-80GB" names one form factor; the family has the others.
  if (found.size() == 1) {
    const std::size_t dash = found[0]->name.rfind('-');
    const std::string family = found[0]->name.substr(0, dash);
    const bool formed = dash != std::string::npos && (is_form(*found[0], "-sxm") || is_form(*found[0], "-pcie"));
    if (formed && plain(row.gpu).find("sxm") == std::string::npos && plain(row.gpu).find("pcie") == std::string::npos &&
        plain(row.gpu).find("hbm3") == std::string::npos) {
      // match_gpus() cannot be used: "a100-80gb" is itself an alias of one form factor.
      found.clear();
      for (const Gpu& gpu : catalog.gpus) {
        if (gpu.name.starts_with(family + "-")) found.push_back(&gpu);
      }
      named_exactly = false;
    }
  }
  if (row.gpu_memory_gib) {
    std::erase_if(found, [&](const Gpu* gpu) { return !memory_agrees(*gpu, *row.gpu_memory_gib); });
    if (found.empty()) return fail(bad_input("memory contradicts the GPU"));
  }
  const std::string form = form_of(row);
  // If no GPU has the stated form factor (or none is stated), a GPU with another form factor is the closest match.
  const auto has_form = [](const Gpu& gpu) { return is_form(gpu, "-sxm") || is_form(gpu, "-pcie"); };
  if (found.size() == 1) {
    const bool stated = !form.empty() && is_form(*found[0], "-" + form);
    return ResolvedGpu{found[0], !named_exactly && has_form(*found[0]) && !stated};
  }
  std::vector<const Gpu*> formed;
  for (const Gpu* gpu : found) {
    if (!form.empty() && is_form(*gpu, "-" + form)) formed.push_back(gpu);
  }
  const bool assumed = formed.empty();
  const std::vector<const Gpu*>& candidates = assumed ? found : formed;
  const Gpu* slowest = *std::ranges::min_element(candidates, [](const Gpu* a, const Gpu* b) {
    return std::pair(a->bandwidth, a->memory) < std::pair(b->bandwidth, b->memory);
  });
  return ResolvedGpu{slowest, assumed || candidates.size() > 1};
}

}  // namespace rightsize::feeds
