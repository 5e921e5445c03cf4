// The hit rate of a KV cache of every size, from one pass over the blocks of a trace.
//
//   ReuseCurve curve;
//   for (const auto& blocks : prompts) curve.add(blocks);
//   curve.hit_rates({1'000, 50'000});   // of caches with room for that many blocks
//
// A block is found in a least-recently-used cache of n blocks if fewer than n other blocks were touched since its last
// use (Mattson et al. 1970, IBM Systems Journal 9). A tree over the order of touches counts them in logarithmic time.
//
// As in an engine's prefix cache, a prompt's hits are its blocks from the beginning up to the first that is missing.
// Then all its blocks are touched, the last one first: the beginning of a prompt outlives its end. The same number
// always means the same block after the same beginning.
//
// Up to `most_tracked` different blocks the result is exact. Beyond that, a random half of the blocks is dropped, as
// often as necessary, and distances are scaled (Waldspurger et al. 2015, FAST, "SHARDS"); error() bounds the effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rightsize::kv_cache {

// The order in which blocks were last touched: positions 1, 2, ..., some of them alive. A bit per position and a
// Fenwick tree over words of 64 stay in the processor's cache for tens of millions of positions.
class TouchOrder {
 public:
  explicit TouchOrder(std::uint32_t capacity) { resize(capacity); }

  std::uint32_t append();  // a new, most recent position; needs room()
  void remove(std::uint32_t position);
  std::uint32_t alive() const { return alive_; }
  std::uint32_t room() const { return capacity_ - last_; }
  // Positions alive up to and including this one.
  std::uint32_t up_to(std::uint32_t position) const;
  // Renumbers the live positions from 1, in the same order, with room for `more` and as many again; `renumber` is
  // called with a function from old to new positions.
  template <class Renumber>
  void compact(std::uint32_t more, const Renumber& renumber);

 private:
  void resize(std::uint32_t capacity);
  void add(std::uint32_t word, std::uint32_t delta);
  static std::uint32_t bits(std::uint64_t word) { return static_cast<std::uint32_t>(__builtin_popcountll(word)); }

  std::uint32_t capacity_ = 0, last_ = 0, alive_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> tree_;
};

class ReuseCurve {
 public:
  static constexpr std::size_t kMostTracked = 16'000'000;
  explicit ReuseCurve(std::size_t most_tracked = kMostTracked);

  // The blocks of the next prompt, in order.
  void add(std::span<const std::uint64_t> blocks);

  std::uint64_t requests() const { return requests_; }
  std::uint64_t blocks() const { return blocks_; }
  // Different blocks; an estimate if blocks were dropped.
  double distinct() const;
  // The share of all blocks found in caches that hold this many blocks, in ascending order.
  std::vector<double> hit_rates(const std::vector<double>& rooms) const;
  double unlimited_hit_rate() const;
  // The smallest cache that has this share of the hits of an unlimited one.
  double room_for(double share) const;
  // The tracked share of the distinct blocks; 1: the result is exact.
  double tracked_share() const { return 1 / scale(); }
  // How far hit rates may be off (three standard deviations), 0 if exact. For caches of a hundredth of all blocks or
  // more; smaller ones hold too few tracked blocks.
  double error() const;

 private:
  static constexpr std::uint32_t kEmpty = 0, kUntouched = ~std::uint32_t{0};
  double scale() const { return static_cast<double>(std::uint64_t{1} << halvings_); }
  std::size_t slot_of(std::uint64_t key);
  void grow(std::size_t more);
  void rebuild(std::size_t slots);
  void halve();
  void count(std::uint32_t distance);
  // The distortion from dropped blocks: frequently used blocks may or may not be in the sample.
  double missing() const;

  std::size_t most_tracked_;
  int halvings_ = 0;
  std::uint64_t limit_ = ~std::uint64_t{0};  // keys above it are dropped
  std::uint64_t requests_ = 0, blocks_ = 0;
  TouchOrder order_;
  std::vector<std::uint64_t> keys_;       // an open hash table
  std::vector<std::uint32_t> positions_;  // of the same slots
  std::size_t tracked_ = 0;
  std::vector<std::size_t> slots_;  // of the current prompt
  std::vector<double> needs_;       // hits by the smallest sufficient cache, in tracked blocks
  double counted_ = 0;              // blocks that the tracked ones represent
};

}  // namespace rightsize::kv_cache
