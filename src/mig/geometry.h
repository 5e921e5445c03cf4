// How a GPU can be partitioned (Multi-Instance GPU): its profiles, their possible starts, and the sets that fit
// together.
//
//   auto geometry = Geometry::of(catalog, gpu);
//   auto layout = parse_layout("3g.40gb@0, 2g.20gb, 1g.10gb", *geometry);
//   auto placed = geometry->place(*layout, occupied);        // with starts; empty if it does not fit
//
// NVIDIA has two rules: instances may not overlap in memory slices, and together they may not have more compute slices
// than the GPU. The profiles come from data/mig.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::mig {

// An instance on a GPU. `profile` indexes Geometry::profiles(); `start` is the first memory slice, -1 while undecided.
struct Instance {
  int profile = 0;
  int start = -1;

  bool operator==(const Instance&) const = default;
};

// Instances of one GPU, in the order to create them.
using Layout = std::vector<Instance>;

// A multiset of profiles that can be placed together: `counts` by index of plain_profiles().
struct SliceSet {
  std::vector<int> counts;
  bool maximal = false;  // no further instance of a plain profile fits, however the others are placed
};

class Geometry {
 public:
  // Empty if the GPU cannot be partitioned or its profiles are unknown.
  static std::optional<Geometry> of(const catalog::Catalog& catalog, const catalog::Gpu& gpu);

  const catalog::Gpu& gpu() const { return *gpu_; }
  const std::vector<catalog::MigProfile>& profiles() const { return profiles_; }
  const catalog::MigProfile& profile(int index) const { return profiles_[static_cast<std::size_t>(index)]; }
  // Indices of the profiles that are not media variants, small before large.
  const std::vector<int>& plain_profiles() const { return plain_; }
  int memory_slices() const { return memory_slices_; }
  int compute_slices() const { return compute_slices_; }
  // Share of the chip's SMs, including those MIG leaves unused, and of its memory bandwidth.
  double sm_share(int profile) const;
  double bandwidth_share(int profile) const;

  // By name or ID. Names differ between drivers (3g.39gb, 3g.40gb): compute slices, suffix and nearest memory decide.
  Result<int> find_profile(std::string_view name) const;

  bool may_join(const Layout& occupied, const Instance& candidate) const;

  // `wanted` with a start for every instance, next to `occupied`; empty if it does not fit. Among several ways, it
  // takes the one that leaves the most room for further instances.
  std::optional<Layout> place(const Layout& wanted, const Layout& occupied = {}) const;

  // Every non-empty multiset of plain profiles that fits an empty GPU, ordered by counts from the largest profile down.
  const std::vector<SliceSet>& combinations() const { return combinations_; }

  // Whether these numbers of slices, by index of plain_profiles(), are a valid combination.
  bool fits(const std::vector<int>& counts) const;

  // How many more of a profile fit next to `occupied`; with `moved`, if `occupied` may be rearranged.
  int free_for(int profile, const Layout& occupied, bool moved) const;

  // Largest first, the order in which a driver that chooses placements itself arrives at these.
  Layout creation_order(const Layout& layout) const;

 private:
  bool extend(Layout& placed, std::vector<Instance>& rest) const;
  int free_placements(const Layout& placed) const;
  bool fits_together(const std::vector<int>& counts) const;
  std::vector<SliceSet> find_combinations() const;

  const catalog::Gpu* gpu_ = nullptr;
  std::vector<catalog::MigProfile> profiles_;
  std::vector<int> plain_;
  int memory_slices_ = 0;
  int compute_slices_ = 0;
  std::vector<SliceSet> combinations_;
  std::vector<std::uint64_t> codes_;  // of combinations_, sorted
};

// "3g.40gb, 2x1g.10gb, 1g.10gb@4": names, counts ("2x1g.10gb", "1g.10gb*2", "1g.10gb: 2"), and starts after '@'. Every
// mistake has its place.
Checked<Layout> parse_layout(std::string_view text, const Geometry& geometry);

// "3g.40gb@0, 1g.10gb@4" or, without starts, "3g.40gb, 2x1g.10gb".
std::string describe_layout(const Layout& layout, const Geometry& geometry);

}  // namespace rightsize::mig
