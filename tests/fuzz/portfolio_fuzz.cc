// Any bytes as an organisation: a checked file with a cost for its first choice, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "portfolio/cost.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  const std::string text(reinterpret_cast<const char*>(data), size);
  Checked<portfolio::Organisation> read = portfolio::read_organisation("fuzz.yaml", text, kCatalog);
  if (!read) {
    if (read.error().empty() || describe(read.error()).empty()) std::abort();
    return 0;
  }
  if (read->workloads.empty() && !read->cluster) std::abort();
  if (!read->workloads.empty() && read->blocks.empty()) std::abort();
  for (const portfolio::Workload& w : read->workloads) {
    if (w.name.empty()) std::abort();
    if (!w.small && (w.options.empty() || w.dropped.size() == w.options.size())) std::abort();
    for (const portfolio::Option& option : w.options) {
      if (option.gpus.size() != read->blocks.size() || !(option.usd >= 0)) std::abort();
    }
  }
  return 0;
}
