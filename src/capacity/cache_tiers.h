// Where a KV cache should live: GPU memory alone, or with a lower tier of host memory, local disk or remote storage.
//
// A token that was evicted from GPU memory is either loaded from the lower tier or computed again. Loading pays off if
// its bytes arrive sooner than the GPU would compute them, and if the tier holds the tokens that are needed again: a
// tier smaller than the working set has no hits and still costs the copies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/planner.h"

namespace rightsize::capacity {

struct CacheTier {
  std::string name;     // "gpu", "host", "disk", "remote"
  Bytes size = {};      // of one replica; zero: GPU memory alone
  BytesPerSecond read;  // into the GPUs of one replica
  bool shared = false;  // by all replicas; each adds its size
};

// The speed at which a GPU reads from pinned host memory. Our H200 reads 55.2 of the 63.0 GB/s of its PCIe 5.0 x16 link
// (2 GiB at a time, 2026-11-16); other links are assumed to reach the same share. Empty if the link is unknown.
std::optional<BytesPerSecond> host_link(const catalog::Gpu& gpu);

// "host=500GB", "disk=2TB@6GB/s", "remote=10TB@5GB/s": a name, a size and the speed at which a replica reads. Other
// names (cpu, nvme, s3) become one of these three, and unknown names are refused. Remote tiers are shared.
Result<CacheTier> parse_tier(std::string_view text);

// The replica with a tier below its GPU memory, for a cache of `per_token` bytes. An engine that compares the two times
// computes tokens that it cannot load sooner; one that does not (`always_load`) also waits for its copies to the tier.
Replica with_tier(Replica replica, const CacheTier& tier, Bytes per_token, bool always_load = false);

struct TierOutcome {
  CacheTier tier;
  Seconds load, compute;               // of one token
  std::optional<Assessment> run = {};  // the fewest replicas that meet the service's limits; empty: none found
  double hit = 0, loaded = 0;          // shares of prompt tokens: found in GPU memory, loaded from the tier
  int gpus = 0;

  bool loads_faster() const { return load < compute; }
};
// GPU memory alone first, then with each tier.
std::vector<TierOutcome> compare_tiers(const Service& service, const Replica& replica, Bytes per_token,
                                       const std::vector<CacheTier>& tiers);

}  // namespace rightsize::capacity
