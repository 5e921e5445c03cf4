// PyTorch's CUDA caching allocator (native, without expandable segments), byte for byte.
//
// nvidia-smi does not show the size of a program's tensors but the memory that this allocator has reserved. It rounds
// sizes to 512 bytes, reserves memory in segments (2 MiB for blocks up to 1 MiB, 20 MiB for blocks below 10 MiB,
// otherwise the size rounded to 2 MiB), uses the smallest free block that is large enough, splits off a remainder if it
// is large enough, and merges free neighbours. Source: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.x. Replaying the
// allocations of a recorded training run through this class gives the same sequence of segments as the run had.
//
//   CachingAllocator allocator;
//   CachingAllocator::Handle a = allocator.allocate(1000);     // 1024 bytes of a 2 MiB segment
//   allocator.free(a);
//   allocator.reserved();                                      // 2 MiB: kept for the next one
//
// Sizes are plain 64-bit bytes here: this is the innermost loop, and sums must be exact.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace rightsize::memory::tape {

class CachingAllocator {
 public:
  using Handle = std::int32_t;
  static constexpr Handle kNone = -1;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

  // With a capacity, free segments are released and the request is repeated before it fails.
  explicit CachingAllocator(std::int64_t capacity = kUnlimited) : capacity_(capacity) {}

  // kNone if the capacity is exhausted; then only free segments have been released. `bytes` > 0.
  Handle allocate(std::int64_t bytes);
  void free(Handle handle);

  // Forgets every block and segment; the capacity stays.
  void clear();

  std::int64_t allocated() const { return allocated_; }
  std::int64_t reserved() const { return reserved_; }
  std::int64_t peak_allocated() const { return peak_allocated_; }
  std::int64_t peak_reserved() const { return peak_reserved_; }
  int retries() const { return retries_; }  // requests for which segments had to be released
  void reset_peaks();

  std::int64_t block_bytes(Handle handle) const { return blocks_[static_cast<std::size_t>(handle)].size; }
  std::int64_t block_address(Handle handle) const { return blocks_[static_cast<std::size_t>(handle)].address; }

  static std::int64_t round_size(std::int64_t bytes);
  static std::int64_t segment_size(std::int64_t rounded);

 private:
  // Neighbours within a segment form a doubly linked list.
  struct Block {
    std::int64_t address = 0;
    std::int64_t size = 0;
    Handle before = kNone, after = kNone;
    bool free = false;
    bool small = false;
  };

  // The free blocks of one pool, ordered by size, then address. Both are in units of 512 bytes and form one number.
  // Blocks are in buckets, four per power of two, and sorted within a bucket. A bit per bucket tells whether it has
  // blocks.
  struct FreeEntry {
    std::uint64_t order = 0;
    Handle block = kNone;
  };
  using Bucket = std::vector<FreeEntry>;
  static constexpr std::size_t kBuckets = 192;
  struct FreeBlocks {
    std::array<Bucket, kBuckets> buckets;
    std::array<std::uint64_t, kBuckets / 64> filled{};
  };

  FreeBlocks& pool(bool small) { return free_[small ? 0 : 1]; }
  Block& at(Handle handle) { return blocks_[static_cast<std::size_t>(handle)]; }
  static std::uint64_t order_of(const Block& block);
  static std::size_t bucket_of(std::int64_t size);
  static Bucket::iterator first_from(Bucket& bucket, std::uint64_t order);
  Handle take_best_fit(FreeBlocks& blocks, std::int64_t rounded);
  void erase(FreeBlocks& blocks, std::size_t bucket, Bucket::iterator place);
  Handle new_block();
  Handle new_segment(std::int64_t rounded, bool small);
  void split(Handle handle, std::int64_t rounded);
  void absorb_next(Handle handle);
  void insert_free(Handle handle);
  void remove_free(Handle handle);
  void release_free_segments();

  std::int64_t capacity_;
  std::int64_t allocated_ = 0, reserved_ = 0, peak_allocated_ = 0, peak_reserved_ = 0;
  std::int64_t next_address_ = 0;
  int retries_ = 0;
  std::vector<Block> blocks_;
  std::vector<Handle> unused_;  // of blocks_, to use again
  std::array<FreeBlocks, 2> free_;
};

}  // namespace rightsize::memory::tape
