#include "kv_cache/reuse.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rightsize::kv_cache {
namespace {

constexpr std::uint32_t kWord = 64;

// A one-to-one mixing of 64 bits (the finalizer of splitmix64): any numbering of blocks then spreads evenly.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void TouchOrder::resize(std::uint32_t capacity) {
  capacity_ = capacity;
  words_.assign(capacity / kWord + 1, 0);
  tree_.assign(words_.size() + 1, 0);
}

void TouchOrder::add(std::uint32_t word, std::uint32_t delta) {
  for (std::uint32_t i = word + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += delta;
}

std::uint32_t TouchOrder::append() {
  const std::uint32_t position = ++last_;
  words_[position / kWord] |= std::uint64_t{1} << (position % kWord);
  add(position / kWord, 1);
  ++alive_;
  return position;
}

void TouchOrder::remove(std::uint32_t position) {
  words_[position / kWord] &= ~(std::uint64_t{1} << (position % kWord));
  add(position / kWord, ~std::uint32_t{0});  // minus one
  --alive_;
}

std::uint32_t TouchOrder::up_to(std::uint32_t position) const {
  const std::uint32_t word = position / kWord, rest = kWord - 1 - position % kWord;
  std::uint32_t sum = bits(words_[word] << rest);
  for (std::uint32_t i = word; i > 0; i -= i & (~i + 1)) sum += tree_[i];
  return sum;
}

template <class Renumber>
void TouchOrder::compact(std::uint32_t more, const Renumber& renumber) {
  const std::vector<std::uint64_t> old = std::move(words_);
  std::vector<std::uint32_t> before(old.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < old.size(); ++i) before[i] = sum, sum += bits(old[i]);
  renumber([&](std::uint32_t position) {
    const std::uint32_t rest = kWord - 1 - position % kWord;
    return before[position / kWord] + bits(old[position / kWord] << rest);
  });
  resize(std::max(capacity_, 2 * (alive_ + more)));
  for (last_ = 0; last_ < alive_;) {
    ++last_;
    words_[last_ / kWord] |= std::uint64_t{1} << (last_ % kWord);
  }
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    tree_[i + 1] += bits(words_[i]);
    if (const std::uint32_t up = (i + 1) + ((i + 1) & (~(i + 1) + 1)); up < tree_.size()) tree_[up] += tree_[i + 1];
  }
}

ReuseCurve::ReuseCurve(std::size_t most_tracked)
    : most_tracked_(std::max<std::size_t>(most_tracked, 16)), order_(1 << 16) {
  rebuild(1 << 12);
}

std::size_t ReuseCurve::slot_of(std::uint64_t key) {
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(key) & mask;
  while (positions_[slot] != kEmpty && keys_[slot] != key) slot = (slot + 1) & mask;
  if (positions_[slot] == kEmpty) keys_[slot] = key, positions_[slot] = kUntouched, ++tracked_;
  return slot;
}

// Keeps at least three in ten slots free for `more` new blocks.
void ReuseCurve::grow(std::size_t more) {
  std::size_t slots = keys_.size();
  while ((tracked_ + more) * 10 > slots * 7) slots *= 2;
  if (slots > keys_.size()) rebuild(slots);
}

// Moves the blocks within the limit to a new table with this number of slots.
void ReuseCurve::rebuild(std::size_t slots) {
  const std::vector<std::uint64_t> keys = std::exchange(keys_, std::vector<std::uint64_t>(slots));
  const std::vector<std::uint32_t> positions = std::exchange(positions_, std::vector<std::uint32_t>(slots, kEmpty));
  tracked_ = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (positions[i] == kEmpty) continue;
    if (keys[i] > limit_)
      order_.remove(positions[i]);
    else
      positions_[slot_of(keys[i])] = positions[i];
  }
}

// Drops half of the blocks. A distance then contains half as many tracked blocks.
void ReuseCurve::halve() {
  ++halvings_;
  limit_ /= 2;
  rebuild(keys_.size());
  for (std::size_t i = 1; i < needs_.size(); ++i) {
    const double hits = std::exchange(needs_[i], 0);
    needs_[(i + 1) / 2] += hits;
  }
  needs_.resize(needs_.size() / 2 + 1);
}

void ReuseCurve::count(std::uint32_t distance) {
  if (distance >= needs_.size()) needs_.resize(std::max<std::size_t>(distance + 1, needs_.size() * 5 / 4));
  needs_[distance] += scale();
}

void ReuseCurve::add(std::span<const std::uint64_t> blocks) {
  ++requests_;
  blocks_ += blocks.size();
  grow(blocks.size());
  const auto more = static_cast<std::uint32_t>(blocks.size());
  if (order_.room() < more) {
    order_.compact(more, [&](const auto& renumbered) {
      for (std::uint32_t& position : positions_)
        if (position != kEmpty) position = renumbered(position);
    });
  }
  slots_.clear();
  for (const std::uint64_t block : blocks)
    if (const std::uint64_t key = mixed(block); key <= limit_) slots_.push_back(slot_of(key));
  counted_ += scale() * static_cast<double>(slots_.size());
  std::uint32_t worst = 0;
  for (const std::size_t slot : slots_) {
    if (positions_[slot] == kUntouched) break;
    worst = std::max(worst, order_.alive() - order_.up_to(positions_[slot]) + 1);
    count(worst);
  }
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) {
    if (positions_[*slot] != kUntouched) order_.remove(positions_[*slot]);
    positions_[*slot] = order_.append();
  }
  while (tracked_ > most_tracked_) halve();
}

double ReuseCurve::distinct() const { return static_cast<double>(tracked_) * scale(); }

double ReuseCurve::missing() const { return static_cast<double>(blocks_) - counted_; }

// Blocks that are over- or underrepresented in the sample are those used most often, with short distances.
std::vector<double> ReuseCurve::hit_rates(const std::vector<double>& rooms) const {
  std::vector<double> rates;
  double hits = missing();
  std::size_t next = 1;
  for (const double room : rooms) {
    const double tracked = std::floor(room / scale());
    for (; next < needs_.size() && static_cast<double>(next) <= tracked; ++next) hits += needs_[next];
    const double rate = blocks_ > 0 ? hits / static_cast<double>(blocks_) : 0;
    rates.push_back(tracked >= 1 ? std::clamp(rate, 0.0, 1.0) : 0);
  }
  return rates;
}

double ReuseCurve::unlimited_hit_rate() const {
  return hit_rates({scale() * static_cast<double>(needs_.size() + 1)}).front();
}

double ReuseCurve::room_for(double share) const {
  const double wanted = share * unlimited_hit_rate() * static_cast<double>(blocks_);
  double hits = missing();
  std::size_t room = 1;
  for (; room < needs_.size(); ++room)
    if (hits += needs_[room]; hits >= wanted) break;
  return scale() * static_cast<double>(room);
}

// A hit rate is a mean over the tracked blocks; a factor of two covers blocks that are used far more often than others.
double ReuseCurve::error() const {
  return halvings_ == 0 || tracked_ == 0 ? 0 : 2 * 3 * 0.5 / std::sqrt(static_cast<double>(tracked_));
}

}  // namespace rightsize::kv_cache
