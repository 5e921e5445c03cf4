// A buffer that is not zeroed first: most files are much smaller than a block, and untouched pages cost nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace rightsize {

class RawBytes {
 public:
  explicit RawBytes(std::size_t size) : bytes_(std::make_unique_for_overwrite<char[]>(size)), size_(size) {}

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  char& operator[](std::size_t at) { return bytes_[at]; }
  char operator[](std::size_t at) const { return bytes_[at]; }
  std::span<char> from(std::size_t at, std::size_t size) { return {bytes_.get() + at, size}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

}  // namespace rightsize
