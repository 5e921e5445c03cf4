// The user's own prices, in the syntax that every command accepts after --price.
//
//   h100-sxm=2.49          one GPU for an hour; also 2.49USD/h, $2.49, $2.49/h
//   a100=1.90              a family: every GPU with this prefix that has no price itself
//   p5.48xlarge=55.04      a whole machine, by its instance type
//   *=2                    every other GPU
//   2                      the GPU in question; every other GPU where a command has no such GPU
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

struct OwnPrices {
  std::map<std::string, UsdPerGpuSecond, std::less<>> gpus = {};          // by the catalogue's name
  std::map<std::string, UsdPerMachineSecond, std::less<>> machines = {};  // by instance type in lower case
  std::optional<UsdPerGpuSecond> every_gpu = {};
  bool bare = false;             // every_gpu was given as a bare number: the price of the GPU in question
  std::string flag = "--price";  // how the user gave them, for sources and errors

  bool empty() const { return gpus.empty() && machines.empty() && !every_gpu; }
};

// One price per text. Every mistake is reported: unknown names (with a suggestion), invalid prices, two prices for the
// same thing. A price is greater than 0.
Checked<OwnPrices> parse_own_prices(const std::vector<std::string>& texts, const catalog::Catalog& catalog,
                                    std::string_view flag = "--price");

}  // namespace rightsize::market
