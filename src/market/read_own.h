// Machines that the user owns or may buy, as --on-prem names them.
#pragma once

#include "market/own_hardware.h"

namespace rightsize::market {

// "8xh100-sxm=280000USD,4xl40s=60000": GPUs of each machine and its price. Without a price, a machine counts as paid
// for.
Result<std::vector<OwnHardware>> read_own_machines(const std::string& text, const catalog::Catalog& catalog);
// The machines of these kinds with their common settings; a single number of machines applies to every kind.
Result<std::vector<OwnHardware>> own_fleet(const std::vector<OwnHardware>& kinds, const std::vector<int>& counts,
                                           const OwnHardware& common);

}  // namespace rightsize::market
