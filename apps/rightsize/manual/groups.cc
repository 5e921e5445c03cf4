#include <algorithm>
#include <iterator>
#include <string_view>

#include "rightsize/manual/manual.h"

namespace rightsize::app {
namespace {

struct Heading {
  std::string_view heading;
  std::initializer_list<std::string_view> flags;
};

// A flag means the same in every command, and stands under the same heading.
const Heading kHeadings[] = {
    {"Model and job",
     {"--model", "--job", "--precision", "--batch", "--stack", "--resolution", "--name", "--seq", "--isl", "--osl",
      "--kv-precision"}},
    {"GPUs",
     {"--gpu", "--gpus", "--tp", "--pp", "--ep", "--machine", "--network", "--gpus-per-replica", "--to-gpu",
      "--max-gpus", "--min-memory", "--vendor", "--replicas", "--instances", "--instance-overlap", "--fleet",
      "--gpus-per-node"}},
    {"Prices and offers",
     {"--provider", "--region", "--purchase", "--price", "--spot-price", "--community", "--retired", "--instance",
      "--on-demand", "--spot", "--one-year", "--three-years", "--spot-share", "--store", "--catalog", "--best-per"}},
    {"Limits",
     {"--deadline", "--budget", "--objective", "--slo", "--slo-percentile", "--max-load", "--max-rejected", "--peak"}},
    {"What is assumed",
     {"--startup", "--restart", "--interruptions", "--checkpoint-rate", "--checkpoint-every", "--storage",
      "--storage-price", "--egress", "--egress-price", "--chunk", "--growth", "--future", "--step", "--ladder"}},
    {"Metrics server",
     {"--prometheus", "--match", "--timeout", "--tries", "--retry-wait", "--bearer-file", "--user", "--password-file",
      "--cert", "--key", "--ca", "--insecure", "--org-id", "--header", "--shard", "--parallel", "--resume"}},
    {"What counts as waste",
     {"--idle-below", "--held-above", "--target", "--sharing", "--memory-headroom", "--stop-above", "--park-after",
      "--min-age", "--max-overload", "--across-teams"}},
    {"Output",
     {"--top", "--sort", "--emit", "--explain", "--stats", "--roofline", "--sweep", "--options", "--out", "--fail-on",
      "--progress", "--format", "--wide", "--quiet", "--help"}},
};

std::string_view heading_of(const std::string& flag) {
  for (const Heading& heading : kHeadings) {
    if (std::find(heading.flags.begin(), heading.flags.end(), flag) != heading.flags.end()) return heading.heading;
  }
  return {};
}

std::size_t rank(const std::string& heading) {
  const auto found = std::find_if(std::begin(kHeadings), std::end(kHeadings),
                                  [&](const Heading& known) { return known.heading == heading; });
  if (found != std::end(kHeadings)) return static_cast<std::size_t>(found - std::begin(kHeadings)) * 10 + 10;
  return heading.empty() ? 0 : 25;  // what the command itself groups: behind its model, before its prices
}

}  // namespace

void sort_into_groups(std::deque<FlagInfo>& flags) {
  constexpr std::size_t kMany = 12;
  if (flags.size() <= kMany) return;
  for (FlagInfo& flag : flags) {
    if (!flag.name.starts_with('-')) continue;
    const std::string_view heading = heading_of(flag.name);
    if ((flag.group.empty() || heading == "Output") && !heading.empty()) flag.group = heading;
  }
  std::stable_sort(flags.begin(), flags.end(),
                   [](const FlagInfo& a, const FlagInfo& b) { return rank(a.group) < rank(b.group); });
}

}  // namespace rightsize::app
