// Chooses the replica for a request: the one with the least outstanding work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"

namespace rightsize::sim {

// Replicas are grouped by the time they take for a request, and within a group by their number of requests, so choosing
// and updating take constant time.
//
// Ties are broken at random. With round robin, replicas with exactly equal batch times stay in step with the router
// (each request goes to the replica that is free next) until a longer batch occurs. Real times vary by 1 % and never
// get in step. At a utilization of 87 %, this effect made p95 latencies a third too low.
class Router {
 public:
  explicit Router(std::uint64_t seed) : random_(seed) {}

  // Replicas are numbered in the order in which they are added.
  void add(double time_of_one) {
    const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.time == time_of_one; });
    const auto kind = static_cast<std::uint32_t>(same - kinds_.begin());
    if (same == kinds_.end()) kinds_.push_back({time_of_one, {{}}, 0});
    std::vector<std::uint32_t>& idle = kinds_[kind].by_present[0];
    places_.push_back({kind, 0, static_cast<std::uint32_t>(idle.size())});
    idle.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    kinds_[kind].fewest = 0;
  }

  // The replica for the next request, including the request's own time.
  std::size_t choose() {
    if (places_.size() == 1) return 0;
    const Kind* best = &kinds_[0];
    for (const Kind& kind : kinds_)
      if (kind.least() < best->least()) best = &kind;
    const std::vector<std::uint32_t>& equals = best->by_present[best->fewest];
    // The high half of a product with 32 random bits: uniform to one in billions, without a division.
    return equals[(random_.next() >> 32) * equals.size() >> 32];
  }

  void set_present(std::size_t replica, std::size_t present) {
    if (places_.size() == 1) return;
    Place& place = places_[replica];
    Kind& kind = kinds_[place.kind];
    if (present >= kind.by_present.size()) kind.by_present.resize(present + 1);
    std::vector<std::uint32_t>& from = kind.by_present[place.present];
    places_[from.back()].at = place.at;
    from[place.at] = from.back();
    from.pop_back();
    std::vector<std::uint32_t>& to = kind.by_present[present];
    place.present = static_cast<std::uint32_t>(present), place.at = static_cast<std::uint32_t>(to.size());
    to.push_back(static_cast<std::uint32_t>(replica));
    kind.fewest = std::min(kind.fewest, present);
    while (kind.by_present[kind.fewest].empty()) ++kind.fewest;
  }

 private:
  struct Kind {
    double time = 0;
    std::vector<std::vector<std::uint32_t>> by_present;
    std::size_t fewest = 0;  // smallest number of requests on any of them

    double least() const { return static_cast<double>(fewest + 1) * time; }
  };
  struct Place {
    std::uint32_t kind = 0, present = 0, at = 0;
  };

  std::vector<Kind> kinds_;
  std::vector<Place> places_;
  Random random_;
};

}  // namespace rightsize::sim
