#include "mig/geometry.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::mig {

using catalog::MigProfile;

namespace {

// "3g.40gb+me" -> 3, 40, "+me"; empty for other text.
struct NameParts {
  int compute = 0;
  double memory_gb = 0;
  std::string suffix;
};

std::optional<NameParts> split_name(std::string_view name) {
  std::string text = to_lower(trim(name));
  if (text.starts_with("mig ") || text.starts_with("mig-")) text = text.substr(4);
  const std::size_t g = text.find("g."), gb = text.find("gb");
  if (g == std::string::npos || gb == std::string::npos || gb < g + 3) return std::nullopt;
  Result<std::int64_t> compute = parse_integer(text.substr(0, g));
  Result<double> memory = parse_number(text.substr(g + 2, gb - g - 2));
  if (!compute || !memory || *compute > 64 || !(*memory > 0)) return std::nullopt;
  return NameParts{static_cast<int>(*compute), *memory, text.substr(gb + 2)};
}

bool overlap(const MigProfile& a, int a_start, const MigProfile& b, int b_start) {
  return a_start < b_start + b.memory_slices && b_start < a_start + a.memory_slices;
}

// No GPU has room for 32 slices of one kind.
std::uint64_t code_of(const std::vector<int>& counts) {
  std::uint64_t code = 0;
  for (int count : counts) code = code << 5 | static_cast<std::uint64_t>(count);
  return code;
}

// Whether instances of these sizes and starts fit together. `taken` has a bit per slice.
struct Piece {
  int size = 0;
  const std::vector<int>* starts = nullptr;
};
bool lie_beside(const std::vector<Piece>& pieces, std::size_t left, std::uint64_t taken) {
  if (left == 0) return true;
  const Piece& piece = pieces[left - 1];
  for (int start : *piece.starts) {
    const std::uint64_t mine = ((std::uint64_t{1} << piece.size) - 1) << start;
    if ((taken & mine) == 0 && lie_beside(pieces, left - 1, taken | mine)) return true;
  }
  return false;
}

}  // namespace

std::optional<Geometry> Geometry::of(const catalog::Catalog& catalog, const catalog::Gpu& gpu) {
  Geometry geometry;
  geometry.gpu_ = &gpu;
  for (const MigProfile& profile : catalog.mig) {
    if (profile.gpu == gpu.name) geometry.profiles_.push_back(profile);
  }
  std::ranges::stable_sort(geometry.profiles_, [](const MigProfile& a, const MigProfile& b) {
    return std::tie(a.memory_slices, a.compute_slices) < std::tie(b.memory_slices, b.compute_slices);
  });
  for (std::size_t i = 0; i < geometry.profiles_.size(); ++i) {
    const MigProfile& profile = geometry.profiles_[i];
    if (!profile.media) geometry.plain_.push_back(static_cast<int>(i));
    geometry.compute_slices_ = std::max(geometry.compute_slices_, profile.compute_slices);
    for (int start : profile.placements)
      geometry.memory_slices_ = std::max(geometry.memory_slices_, start + profile.memory_slices);
  }
  if (geometry.plain_.empty()) return std::nullopt;
  geometry.combinations_ = geometry.find_combinations();
  for (const SliceSet& set : geometry.combinations_) geometry.codes_.push_back(code_of(set.counts));
  std::ranges::sort(geometry.codes_);
  return geometry;
}

double Geometry::sm_share(int index) const {
  const MigProfile& p = profile(index);
  // If the number of SMs is unknown, compute slices replace it. They overstate the share by up to 10 % on chips with
  // SMs that MIG mode leaves unused.
  if (!p.sms || !gpu_->sms || *gpu_->sms == 0) return static_cast<double>(p.compute_slices) / compute_slices_;
  return std::min(1.0, static_cast<double>(*p.sms) / *gpu_->sms);
}

double Geometry::bandwidth_share(int index) const {
  return static_cast<double>(profile(index).memory_slices) / memory_slices_;
}

Result<int> Geometry::find_profile(std::string_view name) const {
  const std::string wanted = to_lower(trim(name));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    if (profiles_[i].profile == wanted || std::to_string(profiles_[i].id) == wanted) return static_cast<int>(i);
    names.push_back(profiles_[i].profile);
  }
  constexpr double kDrift = 1.25;  // furthest seen: 3g.139gb named 3g.126gb. The next size up is twice as large.
  int best = -1;
  double best_ratio = kDrift;
  if (const std::optional<NameParts> parts = split_name(name)) {
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const std::optional<NameParts> have = split_name(profiles_[i].profile);
      if (!have || have->compute != parts->compute || have->suffix != parts->suffix) continue;
      const double ratio = std::max(have->memory_gb / parts->memory_gb, parts->memory_gb / have->memory_gb);
      if (ratio <= best_ratio) best_ratio = ratio, best = static_cast<int>(i);
    }
  }
  if (best >= 0) return best;
  return fail(bad_input(fmt::format("{} has no MIG profile '{}'", gpu_->name, trim(name)))
                  .with_hint(did_you_mean(wanted, names))
                  .with_hint(fmt::format("its profiles are {}", fmt::join(names, ", "))));
}

bool Geometry::may_join(const Layout& occupied, const Instance& candidate) const {
  const MigProfile& mine = profile(candidate.profile);
  int compute = mine.compute_slices, same = 1;
  for (const Instance& other : occupied) {
    const MigProfile& theirs = profile(other.profile);
    if (overlap(mine, candidate.start, theirs, other.start)) return false;
    compute += theirs.compute_slices;
    same += other.profile == candidate.profile ? 1 : 0;
    if (!mine.media || !theirs.media) continue;
    // Only one instance can have all media engines.
    const bool mine_all = mine.profile.ends_with("+me.all"), theirs_all = theirs.profile.ends_with("+me.all");
    const bool both = mine.profile.find("+me") != std::string::npos && theirs.profile.find("+me") != std::string::npos;
    if (both && (mine_all || theirs_all)) return false;
  }
  return compute <= compute_slices_ && same <= mine.instances;
}

// The placements that stay possible, weighted by size.
int Geometry::free_placements(const Layout& placed) const {
  int open = 0;
  for (int index : plain_) {
    for (int start : profile(index).placements)
      open += may_join(placed, {index, start}) ? profile(index).memory_slices : 0;
  }
  return open;
}

// Depth first over the starts of the rest; at most a few thousand leaves, as no GPU has more than twelve slices.
bool Geometry::extend(Layout& placed, std::vector<Instance>& rest) const {
  if (rest.empty()) return true;
  const Instance next = rest.back();
  rest.pop_back();
  std::vector<std::pair<int, int>> starts;  // (-free placements, -start): most left first, then rightmost
  for (int start : profile(next.profile).placements) {
    if ((next.start >= 0 && next.start != start) || !may_join(placed, {next.profile, start})) continue;
    placed.push_back({next.profile, start});
    starts.emplace_back(-free_placements(placed), -start);
    placed.pop_back();
  }
  std::ranges::sort(starts);
  for (const auto& [open, start] : starts) {
    placed.push_back({next.profile, -start});
    if (extend(placed, rest)) return true;
    placed.pop_back();
  }
  rest.push_back(next);
  return false;
}

std::optional<Layout> Geometry::place(const Layout& wanted, const Layout& occupied) const {
  if (wanted.size() + occupied.size() > static_cast<std::size_t>(memory_slices_)) return std::nullopt;
  // Fixed starts first, then large before small, to find dead ends early.
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const bool a_fixed = wanted[a].start >= 0, b_fixed = wanted[b].start >= 0;
    if (a_fixed != b_fixed) return b_fixed;
    return profile(wanted[a].profile).memory_slices < profile(wanted[b].profile).memory_slices;
  });
  std::vector<Instance> rest;
  for (std::size_t i : order) rest.push_back(wanted[i]);
  Layout placed = occupied;
  if (!extend(placed, rest)) return std::nullopt;
  // extend() took from the back of `rest`, so the k-th it placed is the k-th from the back of `order`.
  Layout result(wanted.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[order[order.size() - 1 - k]] = placed[occupied.size() + k];
  return result;
}

// place() without choosing the best way.
bool Geometry::fits_together(const std::vector<int>& counts) const {
  std::vector<Piece> pieces;
  int memory = 0, compute = 0;
  for (std::size_t i = 0; i < plain_.size(); ++i) {
    const MigProfile& one = profile(plain_[i]);
    if (counts[i] > one.instances) return false;
    memory += counts[i] * one.memory_slices, compute += counts[i] * one.compute_slices;
    pieces.insert(pieces.end(), static_cast<std::size_t>(counts[i]), {one.memory_slices, &one.placements});
  }
  return memory <= memory_slices_ && compute <= compute_slices_ && lie_beside(pieces, pieces.size(), 0);
}

std::vector<SliceSet> Geometry::find_combinations() const {
  // Grows every feasible multiset by one. Every subset of a feasible set is feasible, so none is missed.
  std::set<std::vector<int>, std::greater<>> known;  // largest profile last in plain_, so compare reversed
  std::vector<std::vector<int>> grow{std::vector<int>(plain_.size(), 0)};
  std::map<std::vector<int>, bool> maximal;
  while (!grow.empty()) {
    std::vector<int> counts = grow.back();
    grow.pop_back();
    bool more = false;
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      std::vector<int> next = counts;
      ++next[i];
      const std::vector<int> key(next.rbegin(), next.rend());
      if (known.count(key) > 0) {
        more = true;
      } else if (fits_together(next)) {
        more = true;
        known.insert(key);
        grow.push_back(next);
      }
    }
    maximal[std::vector<int>(counts.rbegin(), counts.rend())] = !more;
  }
  std::vector<SliceSet> combinations;
  for (const std::vector<int>& key : known)
    combinations.push_back({std::vector<int>(key.rbegin(), key.rend()), maximal[key]});
  return combinations;
}

bool Geometry::fits(const std::vector<int>& counts) const {
  return std::ranges::binary_search(codes_, code_of(counts));
}

int Geometry::free_for(int index, const Layout& occupied, bool moved) const {
  Layout wanted, fixed = occupied;
  if (moved) {
    wanted = occupied;
    for (Instance& instance : wanted) instance.start = -1;
    fixed.clear();
  }
  int more = 0;
  for (; more <= memory_slices_; ++more) {
    wanted.push_back({index, -1});
    if (!place(wanted, fixed)) break;
  }
  return more;
}

Layout Geometry::creation_order(const Layout& layout) const {
  Layout order = layout;
  std::ranges::stable_sort(order, [&](const Instance& a, const Instance& b) {
    const MigProfile &pa = profile(a.profile), &pb = profile(b.profile);
    if (pa.memory_slices != pb.memory_slices) return pa.memory_slices > pb.memory_slices;
    if (pa.compute_slices != pb.compute_slices) return pa.compute_slices > pb.compute_slices;
    return a.start < b.start;
  });
  return order;
}

std::string describe_layout(const Layout& layout, const Geometry& geometry) {
  std::string text;
  for (std::size_t i = 0; i < layout.size();) {
    std::size_t same = i + 1;
    const bool fixed = layout[i].start >= 0;
    while (!fixed && same < layout.size() && layout[same] == layout[i]) ++same;
    if (!text.empty()) text += ", ";
    if (same - i > 1) text += fmt::format("{}x", same - i);
    text += geometry.profile(layout[i].profile).profile;
    if (fixed) text += fmt::format("@{}", layout[i].start);
    i = same;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace rightsize::mig
