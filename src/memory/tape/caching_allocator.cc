#include "memory/tape/caching_allocator.h"

#include <algorithm>
#include <bit>

namespace rightsize::memory::tape {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kGranule = 512;            // kMinBlockSize
constexpr std::int64_t kSmallSize = kMib;         // largest "small" block
constexpr std::int64_t kSmallSegment = 2 * kMib;  // kSmallBuffer
constexpr std::int64_t kMiddleLimit = 10 * kMib;  // kMinLargeAlloc
constexpr std::int64_t kMiddleSegment = 20 * kMib;
constexpr std::int64_t kLargeGranule = 2 * kMib;  // kRoundLarge

// Segments come from the driver, so blocks of two segments are never neighbours; a gap separates their addresses.
constexpr std::int64_t kSegmentGap = kMib;

constexpr int kAddressBits = 32;
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;

}  // namespace

std::int64_t CachingAllocator::round_size(std::int64_t bytes) {
  return bytes < kGranule ? kGranule : (bytes + kGranule - 1) / kGranule * kGranule;
}

std::int64_t CachingAllocator::segment_size(std::int64_t rounded) {
  if (rounded <= kSmallSize) return kSmallSegment;
  if (rounded < kMiddleLimit) return kMiddleSegment;
  return (rounded + kLargeGranule - 1) / kLargeGranule * kLargeGranule;
}

void CachingAllocator::clear() {
  allocated_ = reserved_ = peak_allocated_ = peak_reserved_ = next_address_ = 0;
  retries_ = 0;
  blocks_.clear();
  unused_.clear();
  for (FreeBlocks& blocks : free_) {
    for (Bucket& bucket : blocks.buckets) bucket.clear();
    blocks.filled.fill(0);
  }
}

void CachingAllocator::reset_peaks() {
  peak_allocated_ = allocated_;
  peak_reserved_ = reserved_;
}

CachingAllocator::Handle CachingAllocator::new_block() {
  if (!unused_.empty()) {
    const Handle handle = unused_.back();
    unused_.pop_back();
    at(handle) = Block{};
    return handle;
  }
  blocks_.emplace_back();
  return static_cast<Handle>(blocks_.size() - 1);
}

std::uint64_t CachingAllocator::order_of(const Block& block) {
  return static_cast<std::uint64_t>(block.size / kGranule) << kAddressBits |
         (static_cast<std::uint64_t>(block.address / kGranule) & kAddressMask);
}

std::size_t CachingAllocator::bucket_of(std::int64_t size) {
  const std::uint64_t units = static_cast<std::uint64_t>(size / kGranule);
  if (units < 4) return static_cast<std::size_t>(units);
  const int exponent = static_cast<int>(std::bit_width(units)) - 1;
  const std::uint64_t quarter = units >> (exponent - 2) & 3;
  return std::min(kBuckets - 1, static_cast<std::size_t>(exponent - 1) * 4 + static_cast<std::size_t>(quarter));
}

CachingAllocator::Bucket::iterator CachingAllocator::first_from(Bucket& bucket, std::uint64_t order) {
  return std::ranges::lower_bound(bucket, order, {}, &FreeEntry::order);
}

void CachingAllocator::insert_free(Handle handle) {
  Block& block = at(handle);
  block.free = true;
  FreeBlocks& blocks = pool(block.small);
  const std::size_t number = bucket_of(block.size);
  Bucket& bucket = blocks.buckets[number];
  const std::uint64_t order = order_of(block);
  bucket.insert(first_from(bucket, order), {order, handle});
  blocks.filled[number / 64] |= std::uint64_t{1} << number % 64;
}

void CachingAllocator::erase(FreeBlocks& blocks, std::size_t number, Bucket::iterator place) {
  Bucket& bucket = blocks.buckets[number];
  bucket.erase(place);
  if (bucket.empty()) blocks.filled[number / 64] &= ~(std::uint64_t{1} << number % 64);
}

void CachingAllocator::remove_free(Handle handle) {
  Block& block = at(handle);
  block.free = false;
  FreeBlocks& blocks = pool(block.small);
  const std::size_t number = bucket_of(block.size);
  auto place = first_from(blocks.buckets[number], order_of(block));
  while (place->block != handle) ++place;  // addresses may differ only in bits that are not stored
  erase(blocks, number, place);
}

// The smallest block that is large enough; among equals the one at the lowest address.
CachingAllocator::Handle CachingAllocator::take_best_fit(FreeBlocks& blocks, std::int64_t rounded) {
  std::size_t number = bucket_of(rounded);
  Bucket& own = blocks.buckets[number];
  auto place = first_from(own, static_cast<std::uint64_t>(rounded / kGranule) << kAddressBits);
  if (place == own.end()) {
    ++number;
    std::size_t word = number / 64;
    if (word >= blocks.filled.size()) return kNone;
    std::uint64_t bits = blocks.filled[word] >> number % 64 << number % 64;
    while (bits == 0 && ++word < blocks.filled.size()) bits = blocks.filled[word];
    if (bits == 0) return kNone;
    number = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    place = blocks.buckets[number].begin();
  }
  const Handle handle = place->block;
  at(handle).free = false;
  erase(blocks, number, place);
  return handle;
}

void CachingAllocator::release_free_segments() {
  for (FreeBlocks& blocks : free_) {
    for (std::size_t number = 0; number < kBuckets; ++number) {
      Bucket& bucket = blocks.buckets[number];
      std::erase_if(bucket, [this](const FreeEntry& entry) {
        const Block& block = at(entry.block);
        if (block.before != kNone || block.after != kNone) return false;
        reserved_ -= block.size;
        unused_.push_back(entry.block);
        return true;
      });
      if (bucket.empty()) blocks.filled[number / 64] &= ~(std::uint64_t{1} << number % 64);
    }
  }
}

CachingAllocator::Handle CachingAllocator::new_segment(std::int64_t rounded, bool small) {
  const std::int64_t size = segment_size(rounded);
  if (reserved_ + size > capacity_) {
    release_free_segments();
    ++retries_;
    if (reserved_ + size > capacity_) return kNone;
  }
  const Handle handle = new_block();
  Block& block = at(handle);
  block.address = next_address_;
  block.size = size;
  block.small = small;
  next_address_ += size + kSegmentGap;
  reserved_ += size;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  return handle;
}

// Small blocks return any remainder, large ones only a remainder of more than 1 MiB, so a block may be larger than
// requested.
void CachingAllocator::split(Handle handle, std::int64_t rounded) {
  const std::int64_t rest = at(handle).size - rounded;
  const bool worth_it = at(handle).small ? rest >= kGranule : rest > kSmallSize;
  if (!worth_it) return;
  const Handle tail = new_block();
  Block& block = at(handle);
  Block& other = at(tail);
  other.address = block.address + rounded;
  other.size = rest;
  other.small = block.small;
  other.before = handle;
  other.after = block.after;
  if (block.after != kNone) at(block.after).before = tail;
  block.after = tail;
  block.size = rounded;
  insert_free(tail);
}

CachingAllocator::Handle CachingAllocator::allocate(std::int64_t bytes) {
  const std::int64_t rounded = round_size(bytes);
  const bool small = rounded <= kSmallSize;
  Handle handle = take_best_fit(pool(small), rounded);
  if (handle == kNone) handle = new_segment(rounded, small);
  if (handle == kNone) return kNone;
  split(handle, rounded);
  allocated_ += at(handle).size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  return handle;
}

void CachingAllocator::absorb_next(Handle handle) {
  Block& block = at(handle);
  const Handle next = block.after;
  block.size += at(next).size;
  block.after = at(next).after;
  if (block.after != kNone) at(block.after).before = handle;
  unused_.push_back(next);
}

void CachingAllocator::free(Handle handle) {
  allocated_ -= at(handle).size;
  const Handle before = at(handle).before;
  if (before != kNone && at(before).free) {
    remove_free(before);
    absorb_next(before);
    handle = before;
  }
  const Handle after = at(handle).after;
  if (after != kNone && at(after).free) {
    remove_free(after);
    absorb_next(handle);
  }
  insert_free(handle);
}

}  // namespace rightsize::memory::tape
