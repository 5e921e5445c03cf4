#include "capacity/cache_tiers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::capacity {
namespace {

double ns(Seconds time) { return in_seconds(time) * 1e9; }

// A look-up and the launch of the copies.
constexpr Seconds kLoadOverhead = microseconds(300);

TierOutcome outcome_of(Service service, const Replica& replica, const CacheTier& tier) {
  service.shared_lower = tier.shared;
  TierOutcome outcome;
  outcome.tier = tier;
  outcome.load = seconds(replica.step.load_token * 1e-9);
  outcome.compute = seconds(replica.step.prefill * 1e-9);
  constexpr int kMostReplicas = 1024;
  const Planner planner(service, {replica});
  outcome.run = planner.fewest(0, {.step = 1, .most = kMostReplicas});
  if (!outcome.run) return outcome;
  const sim::LatencyProfile& p = outcome.run->profile;
  const double all = std::max(1.0, static_cast<double>(p.prompt_tokens));
  outcome.hit = static_cast<double>(p.hit_tokens) / all;
  outcome.loaded = static_cast<double>(p.loaded_tokens) / all;
  outcome.gpus = outcome.run->configuration.replicas() * replica.gpus;
  return outcome;
}

}  // namespace

std::optional<BytesPerSecond> host_link(const catalog::Gpu& gpu) {
  constexpr double kReached = 55.2 / 63.0;
  const std::size_t x = gpu.pcie.find('x');
  const Result<double> generation = parse_number(gpu.pcie.substr(0, x));
  if (x == std::string::npos || !generation || !(*generation >= 1 && *generation <= 8)) return std::nullopt;
  const Result<double> lanes = parse_number(gpu.pcie.substr(x + 1));
  if (!lanes || !(*lanes >= 1 && *lanes <= 32)) return std::nullopt;
  // A lane of generation 3 carries 8 GT/s in 128b/130b code; each further generation doubles that.
  const double lane = 8e9 / 8 * 128 / 130 * std::exp2(*generation - 3);
  return bytes_per_s(lane * *lanes * kReached);
}

namespace {

// Names of the tiers; the first of each line is ours.
constexpr std::string_view kTierNames[] = {
    "host cpu ram dram memory hostmemory cpumemory systemmemory cxl",
    "disk nvme ssd localdisk localssd file storage",
    "remote s3 gcs redis nfs network object objectstorage shared valkey mooncake infinistore",
};

std::optional<std::string> tier_named(std::string_view text) {
  const std::string name = fold_name(text);
  for (const std::string_view line : kTierNames) {
    const std::vector<std::string_view> names = split_list(line, ' ');
    if (std::ranges::find(names, name) != names.end()) return std::string(names.front());
  }
  return std::nullopt;
}

}  // namespace

Result<CacheTier> parse_tier(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return fail(bad_input(fmt::format("'{}': {}", text, why)).with_hint("--tier host=500GB or --tier disk=2TB@6GB/s"));
  };
  const std::size_t equals = text.find('='), at = text.find('@');
  if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty())
    return wrong("a tier is NAME=SIZE[@SPEED]");
  CacheTier tier;
  const std::optional<std::string> name = tier_named(trim(text.substr(0, equals)));
  if (!name) return wrong("a tier is host, disk or remote");
  tier.name = *name;
  tier.shared = tier.name == "remote";
  RIGHTSIZE_TRY(tier.size,
                parse_bytes(trim(text.substr(equals + 1, at == std::string_view::npos ? at : at - equals - 1))));
  if (at != std::string_view::npos) {
    RIGHTSIZE_TRY(tier.read, parse_bandwidth(trim(text.substr(at + 1))));
    if (!(tier.read >= bytes_per_s(1e6) && tier.read <= bytes_per_s(1e14)))
      return wrong("the speed must be 1 MB/s to 100 TB/s");
  }
  if (!(tier.size >= bytes(1e6) && tier.size <= bytes(1e18))) return wrong("the size must be 1 MB to 1 EB");
  return tier;
}

Replica with_tier(Replica replica, const CacheTier& tier, Bytes per_token, bool always_load) {
  if (!(tier.size > bytes(0))) return replica;
  const double copy = ns(per_token / tier.read);
  replica.step.lower_tokens = static_cast<std::int64_t>(tier.size / per_token);
  replica.step.load_token = copy, replica.step.load_request = ns(kLoadOverhead);
  replica.step.always_load = always_load;
  if (always_load) replica.step.prefill += copy;
  return replica;
}

std::vector<TierOutcome> compare_tiers(const Service& service, const Replica& replica, Bytes per_token,
                                       const std::vector<CacheTier>& tiers) {
  std::vector<TierOutcome> outcomes{outcome_of(service, replica, {"gpu", {}, {}})};
  for (const CacheTier& tier : tiers)
    outcomes.push_back(outcome_of(service, with_tier(replica, tier, per_token), tier));
  return outcomes;
}

}  // namespace rightsize::capacity
