#include "market/read_own.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"

namespace rightsize::market {
namespace {

// "8xh100-sxm=280000USD": GPUs of one machine, and its price. Without a price, the machine counts as paid for, and only
// its electricity costs money.
Result<OwnHardware> read_own_machine(const std::string& text, const catalog::Catalog& catalog) {
  const std::size_t x = text.find('x'), equals = text.rfind('=');
  const auto wrong = [&] {
    return fail(
        bad_input(fmt::format("'{}' is not COUNTxGPU=PRICE", text)).with_hint("for example 8xh100-sxm=280000USD"));
  };
  if (x == std::string::npos || equals < x) return wrong();
  RIGHTSIZE_TRY(std::int64_t count, parse_integer(text.substr(0, x)));
  if (count < 1 || count > 1024) return wrong();
  const std::size_t name_end = std::min(equals, text.size());
  RIGHTSIZE_TRY(const catalog::UsualGpu usual, catalog::usual_gpu(catalog, text.substr(x + 1, name_end - x - 1)));
  OwnHardware own;
  own.gpu = usual.gpu->name;
  own.gpus = static_cast<int>(count);
  own.price = usd(0);
  if (equals != std::string::npos) {
    RIGHTSIZE_TRY(own.price, parse_usd(text.substr(equals + 1)));
    if (own.price > usd(1e9)) return fail(bad_input(fmt::format("'{}': a machine costs at most 1e9 USD", text)));
  }
  return own;
}

}  // namespace

Result<std::vector<OwnHardware>> read_own_machines(const std::string& text, const catalog::Catalog& catalog) {
  std::vector<OwnHardware> kinds;
  for (std::string_view part : split_list(text, ',')) {
    RIGHTSIZE_TRY(OwnHardware own, read_own_machine(std::string(part), catalog));
    kinds.push_back(std::move(own));
  }
  return kinds;
}

Result<std::vector<OwnHardware>> own_fleet(const std::vector<OwnHardware>& kinds, const std::vector<int>& counts,
                                           const OwnHardware& common) {
  if (counts.size() > 1 && counts.size() != kinds.size())
    return fail(
        bad_input(fmt::format("on-prem-machines has {} numbers for {} kinds of machines", counts.size(), kinds.size()))
            .with_hint("use one number for each --on-prem, in the same order"));
  std::vector<OwnHardware> fleet;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    OwnHardware own = common;
    own.gpu = kinds[i].gpu, own.gpus = kinds[i].gpus, own.price = kinds[i].price;
    if (!counts.empty()) own.machines = counts[counts.size() == 1 ? 0 : i];
    fleet.push_back(std::move(own));
  }
  return fleet;
}

}  // namespace rightsize::market
