// Zones and the regions they are in; the provider of a Kubernetes node.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace rightsize::catalog {

// The region of a zone by the names of clouds: us-central1-a and us-east-1a are zones of us-central1 and us-east-1,
// westus2-1 one of westus2. Anything else counts as a region.
inline std::string region_of_place(std::string_view place) {
  const auto is = [&](std::size_t from_end, int (*kind)(int)) {
    return place.size() > from_end && kind(static_cast<unsigned char>(place[place.size() - 1 - from_end])) != 0;
  };
  const bool dash = place.size() > 2 && place[place.size() - 2] == '-';
  if (dash && is(0, std::islower)) return std::string(place.substr(0, place.size() - 2));
  if (place.find('-') == std::string_view::npos) return std::string(place);
  if (is(0, std::islower) && is(1, std::isdigit)) return std::string(place.substr(0, place.size() - 1));
  const bool azure = dash && place.find('-') == place.size() - 2 && is(0, std::isdigit) && is(2, std::islower);
  const bool azure_number = dash && place.find('-') == place.size() - 2 && is(0, std::isdigit) && is(2, std::isdigit);
  return std::string(place.substr(0, place.size() - (azure || azure_number ? 2 : 0)));
}

// Whether the price of a region applies to a place; true for a price of any region and for an unknown place.
inline bool holds_in(std::string_view price_region, std::string_view place) {
  return place.empty() || price_region == "any" || price_region == place || price_region == region_of_place(place);
}

// The provider that alone has nodes with this label, as in Kubernetes (cloud.google.com/gke-nodepool) or in a metric
// (label_cloud_google_com_gke_nodepool); empty: none.
std::string_view provider_of_label(std::string_view label);
// The provider that gives nodes such a name: gke-..., aks-..., ip-10-0-1-2.ec2.internal; empty: unknown.
std::string_view provider_of_node(std::string_view name);

}  // namespace rightsize::catalog
