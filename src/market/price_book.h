// The price book: the hourly price of a GPU or a machine, and its source. Every command that takes or prints a price
// uses it, so all commands agree.
//
//   const PriceBook book(catalog, *parse_own_prices({"h100-sxm=2.49"}, catalog));
//   book.gpu(h100, Purchase::kOnDemand)->rate;               // $2.49: the user's own price
//   book.gpu(l4, {.purchases = {Purchase::kSpot}});          // the cheapest spot offer, with its source and date
//   book.machine(p5, Purchase::kOnDemand, "us-east-1");      // a whole machine, in its region if that has a price
//   book.offers({.providers = {"aws"}});                     // everything AWS rents out
//   book.outlook(offer, days(7));                            // what it will likely cost over a week (price_outlook.h)
//
// There are two different questions. What does *this* GPU or machine cost the user? Then the user's own price comes
// first, on any terms and in any region. What can be *rented*? Then the user's price replaces the on-demand list price
// of the machines it applies to, and all other offers stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "market/committed_spend.h"
#include "market/offers.h"
#include "market/own_prices.h"
#include "market/price_outlook.h"

namespace rightsize::market {

// An answer of the book. Rate is UsdPerGpuSecond or UsdPerMachineSecond.
template <class Rate>
struct Quote {
  Rate rate;
  std::optional<Offer> offer = {};  // the offer of the price; empty: the user's own price
  std::string own = {};             // which of the user's: "--price h100-sxm"; empty: the offer's

  bool is_own() const { return !offer; }
  // "aws p5.48xlarge (8 GPUs), us-east-1, on-demand, 2026-08-22", "own: --price h100-sxm".
  std::string source() const { return offer ? describe(*offer) : "own: " + own; }
  // When the price was read; empty for the user's own.
  std::optional<Date> date() const { return offer ? offer->price->provenance.date : std::nullopt; }
};
using GpuQuote = Quote<UsdPerGpuSecond>;
using MachineQuote = Quote<UsdPerMachineSecond>;

class PriceBook {
 public:
  // The catalogue must outlive the book, the book its offers.
  explicit PriceBook(const catalog::Catalog& catalog, OwnPrices own = {});
  PriceBook(PriceBook&&) = default;
  PriceBook& operator=(PriceBook&&) = default;

  // What one GPU of this kind costs: the user's price of the GPU, its share of the cheapest machine with a user's
  // price, or the user's price of every GPU; else the cheapest offer that passes the filter. Empty without a price.
  std::optional<GpuQuote> gpu(const catalog::Gpu& gpu, const OfferFilter& filter) const;
  // `together`: GPUs that one model is split over, which must be in one machine; if no machine has that number, in
  // machines with half as many.
  std::optional<GpuQuote> gpu(const catalog::Gpu& gpu, catalog::Purchase purchase, int together = 1) const;

  // The machines that can be rented for copies of a model on `together` GPUs each: the cheapest of each size that holds
  // a copy, of those with a sound price if there are any.
  std::vector<Offer> machines_for(const catalog::Gpu& gpu, catalog::Purchase purchase, int together) const;

  // The user's own price of a GPU with an incomplete name ("a100", if all its members have one price) or without one.
  std::optional<GpuQuote> own_gpu(std::string_view name) const;

  // What this machine costs: its own price; its GPUs at their own price; else the list price.
  std::optional<MachineQuote> machine(const catalog::Machine& machine, catalog::Purchase purchase,
                                      std::string_view region) const;

  // The list price of this machine, retired or not, on these terms: in this region (or in "any"), else in the cheapest
  // one.
  std::optional<MachineQuote> list_price(const catalog::Machine& machine, catalog::Purchase purchase,
                                         std::string_view region) const;

  // Every offer, ordered by GPU, provider, instance, region and purchase: the order of the catalogue's rows does not
  // matter. Offers of retired machines are among them.
  const std::vector<Offer>& offers() const { return offers_; }

  // The offers that pass the filter, in the same order. With a filter for regions, an offer of region "any" appears
  // once for each of those regions in which the provider is known to have the GPU (Catalog::gpu_regions).
  std::vector<Offer> offers(const OfferFilter& filter) const;

  // Offers of region "any" that pass the filter except for its regions: no source confirms that the provider has the
  // GPU in one of them. Empty without a filter for regions.
  std::vector<Offer> unplaced(const OfferFilter& filter) const;

  // What an offer of this book will likely cost over a job of this length that begins today.
  PriceOutlook outlook(const Offer& offer, Seconds job) const { return outlooks_.of(offer, job); }

  // The offer with the lowest price per GPU of this kind among those with a sound price (PriceOutlook::may_lead), or
  // among all if there are none. Reservations are left out: they can be used up. Ties go to the smaller machine, then
  // to the order above.
  std::optional<Offer> cheapest_offer(std::string_view gpu, const OfferFilter& filter) const;

  // The user's committed spend, which is billed in any case.
  const CommittedSpends& committed() const { return committed_; }

  const catalog::Catalog& catalog() const { return *catalog_; }

 private:
  std::optional<GpuQuote> own_price(const catalog::Gpu& gpu) const;
  void add_own_offers();
  void place_offers();

  const catalog::Catalog* catalog_;
  OwnPrices own_;
  std::vector<catalog::Price> own_rows_;  // the offers at own prices point here
  std::vector<Offer> listed_, offers_;    // of the catalogue; with the user's prices. Sorted, with retired machines
  std::vector<catalog::Price> placed_rows_;
  std::vector<Offer> placed_;  // offers of region "any" in each region the provider is known to have the GPU in
  Outlooks outlooks_;
  CommittedSpends committed_;
};

}  // namespace rightsize::market
