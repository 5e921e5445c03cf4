#include "catalog/version.h"

#include <cstdint>

#include <fmt/format.h>

namespace rightsize::catalog {
namespace {

// FNV-1a; summed over rows, it does not depend on their order.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace

std::string version_of(const Catalog& catalog) {
  std::uint64_t sum = 0;
  Date newest;
  const auto add = [&](const std::string& row, const Provenance& from) {
    sum += hash_of(row);
    if (from.date && *from.date > newest) newest = *from.date;
  };
  for (const Gpu& g : catalog.gpus) {
    std::string row = fmt::format("{}|{}|{}", g.name, in_bytes(g.capacity()), in_bytes_per_s(g.bandwidth));
    for (const Peak& peak : g.peaks) row += fmt::format("|{}", peak.dense ? in_flop_per_s(*peak.dense) : 0.0);
    add(row, g.provenance);
  }
  for (const Machine& m : catalog.machines)
    add(fmt::format("{}|{}|{}|{}|{}", m.provider, m.instance, m.gpu, m.gpus, m.retired), m.provenance);
  for (const Price& p : catalog.prices) {
    add(fmt::format("{}|{}|{}|{}|{}|{}", p.provider, p.instance, p.region, p.zone, name_of(p.purchase),
                    in_usd_per_machine_hour(p.machine_price)),
        p.provenance);
  }
  return fmt::format("{}-{:08x}", format_date(newest), static_cast<std::uint32_t>(sum ^ (sum >> 32)));
}

}  // namespace rightsize::catalog
