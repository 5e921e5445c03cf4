#include "rightsize/input/availability.h"

#include <fmt/format.h>

namespace rightsize::app {

std::string availability_words(const market::Offer& offer, const market::Availability& known) {
  if (offer.is_own() || offer.price->available) return {};
  std::string text =
      fmt::format("Availability: {} does not publish whether machines are free", offer.machine->provider);
  if (known.regions.size() > 1) text += fmt::format("; {} regions offer this one", known.regions.size());
  if (!known.capacity.empty()) text += "; " + known.capacity;
  if (!known.billing.empty()) text += "; " + known.billing;
  return text + ".";
}

}  // namespace rightsize::app
