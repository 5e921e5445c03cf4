#include "market/own_prices.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::market {
namespace {

using catalog::Catalog;

// One text, split in two. The name decides whether the amount is the price of a GPU or of a machine.
struct OwnPrice {
  std::string name;    // "*": every GPU
  std::string amount;  // with its unit
  bool bare = false;   // a number alone
};

Error wrong(std::string_view flag, std::string_view text, std::string_view why) {
  return bad_input(fmt::format("{} '{}': {}", flag, text.substr(0, 60), why));
}

// A bare number means dollars per hour, as documented for the flag; elsewhere a number needs its unit.
Result<OwnPrice> take_apart(std::string_view text, std::string_view flag) {
  const std::size_t equals = text.rfind('=');
  OwnPrice price{"*", std::string(trim(text)), true};
  if (equals != std::string_view::npos) {
    price = {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
  }
  const bool dollar = price.amount.starts_with('$');
  for (std::string_view hourly : {"/hour", "/hr", "/h"}) {
    if (price.amount.ends_with(hourly) &&
        parse_number(std::string_view(price.amount)
                         .substr(dollar ? 1 : 0)
                         .substr(0, price.amount.size() - hourly.size() - (dollar ? 1 : 0))))
      price.amount.resize(price.amount.size() - hourly.size());
  }
  if (parse_number(std::string_view(price.amount).substr(dollar ? 1 : 0))) {
    price.amount = price.amount.substr(dollar ? 1 : 0) + "USD/h";
  }
  const Result<UsdPerGpuSecond> rate = parse_usd_per_gpu_hour(price.amount);
  // Above every real price: the largest machines cost less than $1,000 per hour.
  constexpr double kLargest = 10'000;
  if (rate && *rate > UsdPerGpuSecond{} && in_usd_per_gpu_hour(*rate) <= kLargest) return price;
  const std::string hint =
      fmt::format("for example {0} h100-sxm=2.49, {0} p5.48xlarge=55.04USD/h, or {0} 2.49 for every GPU", flag);
  if (rate) {
    return fail(wrong(flag, text, "the price must be above 0 and at most 10,000 dollars per hour").with_hint(hint));
  }
  if (equals == std::string_view::npos) {
    return fail(wrong(flag, text, "expected NAME=PRICE, in dollars per hour").with_hint(hint));
  }
  return fail(wrong(flag, text, rate.error().message).with_hint(hint));
}

bool is_machine(const Catalog& catalog, const std::string& lower) {
  return std::any_of(catalog.machines.begin(), catalog.machines.end(),
                     [&](const catalog::Machine& machine) { return to_lower(machine.instance) == lower; });
}

Error unknown_name(const Catalog& catalog, std::string_view name, std::string_view flag) {
  std::vector<std::string> names = catalog.gpu_names();
  for (const catalog::Machine& machine : catalog.machines) names.push_back(machine.instance);
  return wrong(flag, name, "no GPU or machine of that name")
      .with_hint(did_you_mean(name, names))
      .with_hint("'rightsize gpus' lists the GPUs, 'rightsize prices' the machines");
}

class OwnPriceReader {
 public:
  OwnPriceReader(const Catalog& catalog, std::string_view flag) : catalog_(catalog) { own_.flag = flag; }

  void read(std::string_view text) {
    Result<OwnPrice> price = take_apart(text, own_.flag);
    if (!price)
      errors_.push_back(std::move(price).error());
    else if (!store(*price))
      errors_.push_back(wrong(own_.flag, text, "that already has a price"));
  }

  Checked<OwnPrices> finish() {
    if (!errors_.empty()) return fail(std::move(errors_));
    // A GPU with its own price keeps it, whatever the price of its family.
    own_.gpus.merge(families_);
    return std::move(own_);
  }

 private:
  // False if there is already a price.
  bool store(const OwnPrice& price) {
    const std::string lower = to_lower(price.name);
    const UsdPerGpuSecond rate = *parse_usd_per_gpu_hour(price.amount);
    if (price.name == "*") {
      own_.bare = price.bare;
      return !std::exchange(own_.every_gpu, rate);
    }
    // GPU names come before machine names: Paperspace has machines called H100 and V100.
    const Result<std::vector<const catalog::Gpu*>> gpus = catalog_.match_gpus(price.name);
    if (!gpus && is_machine(catalog_, lower)) {
      return own_.machines.emplace(lower, *parse_usd_per_machine_hour(price.amount)).second;
    }
    if (!gpus) {
      errors_.push_back(unknown_name(catalog_, price.name, own_.flag));
      return true;
    }
    bool fresh = true;
    for (const catalog::Gpu* gpu : *gpus) {
      fresh = (gpus->size() == 1 ? own_.gpus : families_).emplace(gpu->name, rate).second && fresh;
    }
    return fresh;
  }

  const Catalog& catalog_;
  OwnPrices own_;
  std::map<std::string, UsdPerGpuSecond, std::less<>> families_;
  Errors errors_;
};

}  // namespace

Checked<OwnPrices> parse_own_prices(const std::vector<std::string>& texts, const Catalog& catalog,
                                    std::string_view flag) {
  OwnPriceReader reader(catalog, flag);
  for (const std::string& text : texts) reader.read(text);
  return reader.finish();
}

}  // namespace rightsize::market
