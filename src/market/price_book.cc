#include "market/price_book.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "catalog/words.h"

namespace rightsize::market {
namespace {

using catalog::Purchase;

// The user's price of a machine: its own, that of its GPU, that of every GPU.
std::optional<MachineQuote> own_quote(const catalog::Machine& machine, const OwnPrices& own) {
  if (machine.provider == kOwn) return std::nullopt;  // its price follows from the purchase price
  const std::string instance = own.machines.empty() ? "" : to_lower(machine.instance);
  if (const auto named = own.machines.find(instance); named != own.machines.end())
    return MachineQuote{named->second, {}, own.flag + " " + instance};
  if (const auto gpu = own.gpus.find(machine.gpu); gpu != own.gpus.end())
    return MachineQuote{gpu->second * gpus_per_machine(machine.gpus), {}, own.flag + " " + machine.gpu};
  if (own.every_gpu) return MachineQuote{*own.every_gpu * gpus_per_machine(machine.gpus), {}, own.flag + " *"};
  return std::nullopt;
}

// The offers of one kind of GPU; offers are ordered by GPU.
std::span<const Offer> offers_of(const std::vector<Offer>& offers, std::string_view gpu) {
  struct ByGpu {
    bool operator()(const Offer& offer, std::string_view name) const { return offer.gpu->name < name; }
    bool operator()(std::string_view name, const Offer& offer) const { return name < offer.gpu->name; }
  };
  const auto [first, last] = std::equal_range(offers.begin(), offers.end(), gpu, ByGpu{});
  return {first, last};
}

}  // namespace

PriceBook::PriceBook(const catalog::Catalog& catalog, OwnPrices own)
    : catalog_(&catalog),
      own_(std::move(own)),
      listed_(list_offers(catalog)),
      offers_(listed_),
      outlooks_(listed_, today()),
      committed_(catalog, today()) {
  if (!own_.empty()) add_own_offers();
  place_offers();
}

void PriceBook::place_offers() {
  std::vector<std::pair<const Offer*, const catalog::GpuRegion*>> pairs;
  for (const catalog::GpuRegion& row : catalog_->gpu_regions) {
    for (const Offer& offer : offers_of(offers_, row.gpu)) {
      if (offer.machine->provider == row.provider && offer.price->region == catalog::kAnyRegion && !offer.is_own())
        pairs.emplace_back(&offer, &row);
    }
  }
  placed_rows_.reserve(pairs.size());
  for (const auto& [offer, where] : pairs) {
    catalog::Price row = *offer->price;
    row.region = where->region;
    row.provenance.note = fmt::format("one price for all regions; {} has this GPU in {} ({})", where->provider,
                                      where->region, fmt::join(where->provenance.sources, ", "));
    placed_rows_.push_back(std::move(row));
    placed_.push_back({offer->gpu, offer->machine, &placed_rows_.back()});
  }
  sort_offers(placed_);
}

// One row per machine, for every region, replaces its on-demand rows.
void PriceBook::add_own_offers() {
  std::vector<Offer> mine;
  own_rows_.reserve(catalog_->machines.size());
  for (const catalog::Machine& machine : catalog_->machines) {
    const std::optional<MachineQuote> quote = own_quote(machine, own_);
    if (!quote) continue;
    const Result<const catalog::Gpu*> gpu = catalog_->find_gpu(machine.gpu);
    if (!gpu) continue;
    catalog::Price row;
    row.provider = machine.provider;
    row.instance = machine.instance;
    row.region = "any";
    row.machine_price = quote->rate;
    row.provenance.sources = {kOwn};
    row.provenance.date = today();
    row.provenance.note = quote->own;
    own_rows_.push_back(std::move(row));
    mine.push_back({*gpu, &machine, &own_rows_.back()});
  }
  std::erase_if(offers_, [&](const Offer& offer) {
    return offer.price->purchase == Purchase::kOnDemand && own_quote(*offer.machine, own_);
  });
  offers_.insert(offers_.end(), mine.begin(), mine.end());
  sort_offers(offers_);
}

std::optional<GpuQuote> PriceBook::own_price(const catalog::Gpu& gpu) const {
  if (const auto named = own_.gpus.find(gpu.name); named != own_.gpus.end()) {
    return GpuQuote{named->second, {}, own_.flag + " " + gpu.name};
  }
  std::optional<GpuQuote> best;
  for (const catalog::Machine& machine : catalog_->machines) {
    if (own_.machines.empty()) break;
    const auto named = own_.machines.find(to_lower(machine.instance));
    if (machine.gpu != gpu.name || named == own_.machines.end()) continue;
    const UsdPerGpuSecond share = named->second / gpus_per_machine(machine.gpus);
    if (!best || share < best->rate) best = GpuQuote{share, {}, own_.flag + " " + named->first};
  }
  if (!best && own_.every_gpu) best = GpuQuote{*own_.every_gpu, {}, own_.flag + " *"};
  return best;
}

std::optional<GpuQuote> PriceBook::gpu(const catalog::Gpu& gpu, const OfferFilter& filter) const {
  if (std::optional<GpuQuote> own = own_price(gpu)) return own;
  const std::optional<Offer> offer = cheapest_offer(gpu.name, filter);
  if (!offer) return std::nullopt;
  return GpuQuote{offer->rate_per_gpu(), offer};
}

std::optional<GpuQuote> PriceBook::gpu(const catalog::Gpu& gpu, Purchase purchase, int together) const {
  for (int least = together; least > 1; least /= 2) {
    if (auto quote = this->gpu(gpu, {.purchases = {purchase}, .least_gpus = least})) return quote;
  }
  return this->gpu(gpu, {.purchases = {purchase}});
}

std::vector<Offer> PriceBook::machines_for(const catalog::Gpu& gpu, Purchase purchase, int together) const {
  std::set<int> sizes;
  for (const Offer& offer : offers_of(offers_, gpu.name)) sizes.insert(offer.machine->gpus);
  std::vector<Offer> found;
  for (auto size = sizes.lower_bound(together); size != sizes.end(); ++size)
    if (const auto best = cheapest_offer(gpu.name, {.purchases = {purchase}, .machine_gpus = *size}))
      found.push_back(*best);
  const auto is_sound = [&](const Offer& offer) { return outlook(offer, Seconds{}).may_lead(); };
  if (std::ranges::any_of(found, is_sound)) std::erase_if(found, std::not_fn(is_sound));
  return found;
}

std::optional<GpuQuote> PriceBook::own_gpu(std::string_view name) const {
  std::optional<GpuQuote> found;
  const Result<std::vector<const catalog::Gpu*>> members = catalog_->match_gpus(name);
  for (std::size_t i = 0; members && i < members->size(); ++i) {
    const std::optional<GpuQuote> member = own_price(*(*members)[i]);
    const bool alike = member && (i == 0 || (found && found->rate == member->rate));
    found = alike ? member : std::nullopt;
    if (!alike) break;
  }
  if (found) return found;
  if (!own_.every_gpu) return std::nullopt;
  return GpuQuote{*own_.every_gpu, {}, own_.flag + " *"};
}

std::optional<MachineQuote> PriceBook::machine(const catalog::Machine& machine, Purchase purchase,
                                               std::string_view region) const {
  const std::optional<MachineQuote> own = own_quote(machine, own_);
  return own ? own : list_price(machine, purchase, region);
}

std::optional<MachineQuote> PriceBook::list_price(const catalog::Machine& machine, Purchase purchase,
                                                  std::string_view region) const {
  const auto rank = [region](const Offer& offer) {
    const bool elsewhere = offer.price->region != region && offer.price->region != catalog::kAnyRegion;
    return std::tuple(!offer.is_confirmed(), elsewhere, offer.rate());
  };
  const Offer* best = nullptr;
  for (const Offer& offer : offers_of(listed_, machine.gpu)) {
    const catalog::Price& row = *offer.price;
    if (row.available || row.purchase != purchase || row.instance != machine.instance ||
        row.provider != machine.provider)
      continue;
    if (best == nullptr || rank(offer) < rank(*best)) best = &offer;
  }
  if (best == nullptr) return std::nullopt;
  return MachineQuote{best->rate(), *best};
}

std::vector<Offer> PriceBook::offers(const OfferFilter& filter) const {
  std::vector<Offer> found;
  for (const Offer& offer : offers_) {
    if (filter.lets_through(offer)) found.push_back(offer);
  }
  if (filter.regions.empty()) return found;
  const std::size_t before = found.size();
  for (const Offer& offer : placed_) {
    if (filter.lets_through(offer)) found.push_back(offer);
  }
  if (found.size() > before) sort_offers(found);
  return found;
}

std::vector<Offer> PriceBook::unplaced(const OfferFilter& filter) const {
  std::vector<Offer> found;
  if (filter.regions.empty() || filter.regions == std::vector<std::string>{std::string(catalog::kAnyRegion)})
    return found;
  OfferFilter anywhere = filter;
  anywhere.regions = {std::string(catalog::kAnyRegion)};
  std::set<std::pair<std::string_view, std::string_view>> there;  // provider, GPU
  for (const Offer& offer : placed_) {
    if (filter.lets_through(offer)) there.emplace(offer.machine->provider, offer.gpu->name);
  }
  for (const Offer& offer : offers_) {
    if (!offer.is_own() && anywhere.lets_through(offer) && !there.contains({offer.machine->provider, offer.gpu->name}))
      found.push_back(offer);
  }
  return found;
}

std::optional<Offer> PriceBook::cheapest_offer(std::string_view gpu, const OfferFilter& filter) const {
  using Rank = std::tuple<bool, UsdPerGpuSecond, int>;
  const Offer* best = nullptr;
  Rank least;
  const auto consider = [&](const Offer& offer) {
    if (!filter.lets_through(offer) || offer.price->available) return;
    const Rank rank(!outlook(offer, Seconds{}).may_lead(), offer.rate_per_gpu(), offer.machine->gpus);
    if (best == nullptr || rank < least) {
      best = &offer;
      least = rank;
    }
  };
  for (const Offer& offer : offers_of(offers_, gpu)) consider(offer);
  if (!filter.regions.empty()) {
    for (const Offer& offer : offers_of(placed_, gpu)) consider(offer);
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace rightsize::market
