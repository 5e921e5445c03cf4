// Published facts about getting a machine: where it is offered, how it is billed, how to obtain capacity. No provider
// publishes whether a machine is free right now, and quotas depend on the account (plan/terms.h names them).
//
//   const Availability known = availability(book, plan.offer);
//   known.regions;                            // where the same machine is offered on these terms: other places to try
//   known.capacity;                           // "Capacity Blocks are booked up to 8 weeks ahead ..."
//   fallback(book, plan.offer, request.filter);  // the cheapest offer that does not need the same capacity
//
// An empty text or list is unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "market/price_book.h"

namespace rightsize::market {

struct Availability {
  std::vector<std::string> regions;
  std::string billing;               // "billed by the minute"
  std::string capacity;              // how to obtain it, and how long that takes
  std::vector<std::string> sources;  // keys of the catalogue, of billing and capacity
  std::optional<Date> date;          // when they were read
};

Availability availability(const PriceBook& book, const Offer& offer);

// The cheapest offer per GPU on the same terms with a sound price that does not need the capacity of `offer`: the same
// GPU from another provider, else another GPU with at least as much memory. Ignores GPUs and providers in `filter`.
std::optional<Offer> fallback(const PriceBook& book, const Offer& offer, const OfferFilter& filter);

}  // namespace rightsize::market
