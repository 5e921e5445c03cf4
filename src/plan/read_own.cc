#include "market/read_own.h"

#include <fmt/format.h>

#include "plan/read_parts.h"

namespace rightsize::plan {

Result<std::vector<market::OwnHardware>> read_own_machines(const std::string& text, const catalog::Catalog& catalog) {
  return market::read_own_machines(text, catalog);
}

Result<std::vector<market::OwnHardware>> own_fleet(const std::vector<market::OwnHardware>& kinds,
                                                   const std::vector<int>& counts, const market::OwnHardware& common) {
  if (counts.size() > 1 && counts.size() != kinds.size())
    return fail(
        bad_input(fmt::format("on-prem-machines has {} numbers for {} kinds of machines", counts.size(), kinds.size()))
            .with_hint("use one number for each --on-prem, in the same order"));
  std::vector<market::OwnHardware> fleet;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    market::OwnHardware own = common;
    own.gpu = kinds[i].gpu, own.gpus = kinds[i].gpus, own.price = kinds[i].price;
    if (!counts.empty()) own.machines = counts[counts.size() == 1 ? 0 : i];
    fleet.push_back(std::move(own));
  }
  return fleet;
}

}  // namespace rightsize::plan
