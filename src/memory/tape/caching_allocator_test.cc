#include "memory/tape/caching_allocator.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::memory::tape {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;

TEST(CachingAllocator, RoundsAndTakesSegments) {
  EXPECT_EQ(CachingAllocator::round_size(1), 512);
  EXPECT_EQ(CachingAllocator::round_size(513), 1024);
  EXPECT_EQ(CachingAllocator::segment_size(512), 2 * kMib);
  EXPECT_EQ(CachingAllocator::segment_size(kMib), 2 * kMib);
  EXPECT_EQ(CachingAllocator::segment_size(kMib + 512), 20 * kMib);
  EXPECT_EQ(CachingAllocator::segment_size(10 * kMib), 10 * kMib);
  EXPECT_EQ(CachingAllocator::segment_size(10 * kMib + 512), 12 * kMib);
}

TEST(CachingAllocator, SplitsAndJoinsSmallBlocks) {
  CachingAllocator allocator;
  const auto a = allocator.allocate(1000), b = allocator.allocate(512), c = allocator.allocate(kMib);
  EXPECT_EQ(allocator.reserved(), 2 * kMib);
  EXPECT_EQ(allocator.allocated(), 1024 + 512 + kMib);
  allocator.free(a);
  // Best fit: the hole of 1024 bytes, not the rest of the segment.
  const auto d = allocator.allocate(700);
  EXPECT_EQ(allocator.block_address(d), allocator.block_address(b) - 1024);
  allocator.free(d);
  allocator.free(b);
  allocator.free(c);
  EXPECT_EQ(allocator.allocated(), 0);
  EXPECT_EQ(allocator.reserved(), 2 * kMib);
  // All joined: a request for the whole small segment's worth fits without a new segment.
  allocator.allocate(kMib);
  allocator.allocate(kMib);
  EXPECT_EQ(allocator.reserved(), 2 * kMib);
}

TEST(CachingAllocator, LargeBlocksKeepARestOfAMebibyte) {
  CachingAllocator allocator;
  const auto a = allocator.allocate(11 * kMib);  // a segment of 12 MiB: the last MiB is too small to split off
  EXPECT_EQ(allocator.reserved(), 12 * kMib);
  EXPECT_EQ(allocator.allocated(), 12 * kMib);
  allocator.free(a);
  allocator.allocate(10 * kMib);  // now 2 MiB remain, which is enough to split off
  EXPECT_EQ(allocator.allocated(), 10 * kMib);
  EXPECT_EQ(allocator.reserved(), 12 * kMib);
}

TEST(CachingAllocator, ReleasesCachedSegmentsWhenMemoryRunsOut) {
  CachingAllocator allocator(100 * kMib);
  const auto a = allocator.allocate(60 * kMib);
  allocator.free(a);
  EXPECT_EQ(allocator.reserved(), 60 * kMib);
  const auto b = allocator.allocate(80 * kMib);
  EXPECT_NE(b, CachingAllocator::kNone);
  EXPECT_EQ(allocator.retries(), 1);
  EXPECT_EQ(allocator.reserved(), 80 * kMib);
  EXPECT_EQ(allocator.allocate(30 * kMib), CachingAllocator::kNone);
  EXPECT_EQ(allocator.allocated(), 80 * kMib);
}

// The same rules, written for clarity: blocks in a map by address, searched from end to end.
class NaiveAllocator {
 public:
  std::int64_t allocate(std::int64_t bytes) {
    const std::int64_t size = CachingAllocator::round_size(bytes);
    const bool small = size <= kMib;
    std::int64_t best = -1;
    for (const auto& [address, block] : blocks_) {
      if (!block.free || block.small != small || block.size < size) continue;
      if (best < 0 || block.size < blocks_[best].size) best = address;
    }
    if (best < 0) {
      const std::int64_t segment = CachingAllocator::segment_size(size);
      best = next_;
      blocks_[best] = {segment, segments_++, true, small};
      next_ += segment + kMib;
      reserved += segment;
    }
    Block& block = blocks_[best];
    const std::int64_t rest = block.size - size;
    if (small ? rest >= 512 : rest > kMib) {
      blocks_[best + size] = {rest, block.segment, true, small};
      block.size = size;
    }
    block.free = false;
    allocated += block.size;
    return best;
  }

  void free(std::int64_t address) {
    auto it = blocks_.find(address);
    it->second.free = true;
    allocated -= it->second.size;
    auto next = std::next(it);
    if (next != blocks_.end() && next->second.free && next->second.segment == it->second.segment) {
      it->second.size += next->second.size;
      blocks_.erase(next);
    }
    if (it == blocks_.begin()) return;
    auto before = std::prev(it);
    if (before->second.free && before->second.segment == it->second.segment) {
      before->second.size += it->second.size;
      blocks_.erase(it);
    }
  }

  std::int64_t allocated = 0, reserved = 0;

 private:
  struct Block {
    std::int64_t size = 0;
    int segment = 0;
    bool free = true, small = false;
  };
  std::map<std::int64_t, Block> blocks_;
  std::int64_t next_ = 0;
  int segments_ = 0;
};

RC_GTEST_PROP(CachingAllocator, AgreesWithANaiveAllocator, ()) {
  CachingAllocator allocator;
  NaiveAllocator naive;
  std::vector<std::pair<CachingAllocator::Handle, std::int64_t>> live;
  const int steps = *rc::gen::inRange(1, 300);
  for (int i = 0; i < steps; ++i) {
    if (!live.empty() && *rc::gen::inRange(0, 5) < 2) {
      const auto which = *rc::gen::inRange<std::size_t>(0, live.size());
      allocator.free(live[which].first);
      naive.free(live[which].second);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const int exponent = *rc::gen::inRange(4, 27);
      const std::int64_t bytes = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << exponent);
      const auto handle = allocator.allocate(bytes);
      const std::int64_t address = naive.allocate(bytes);
      RC_ASSERT(allocator.block_address(handle) == address);
      RC_ASSERT(allocator.block_bytes(handle) >= bytes);
      live.push_back({handle, address});
    }
    RC_ASSERT(allocator.allocated() == naive.allocated);
    RC_ASSERT(allocator.reserved() == naive.reserved);
    RC_ASSERT(allocator.allocated() <= allocator.reserved());
  }
}

RC_GTEST_PROP(CachingAllocator, BlocksNeverOverlap, ()) {
  CachingAllocator allocator;
  std::vector<CachingAllocator::Handle> live;
  for (int i = 0; i < 200; ++i) {
    if (!live.empty() && *rc::gen::arbitrary<bool>()) {
      allocator.free(live.back());
      live.pop_back();
      continue;
    }
    live.push_back(allocator.allocate(*rc::gen::inRange<std::int64_t>(1, 64 * kMib)));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  spans.reserve(live.size());
  for (auto handle : live) spans.push_back({allocator.block_address(handle), allocator.block_bytes(handle)});
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 1; i < spans.size(); ++i) RC_ASSERT(spans[i - 1].first + spans[i - 1].second <= spans[i].first);
}

}  // namespace
}  // namespace rightsize::memory::tape
