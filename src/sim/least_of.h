// The place of the least of a few numbers of which one changes at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace rightsize::sim {

// A tournament: leaves are the numbers, every node above knows which of its two halves has the smaller one. A change
// plays one match on each level. Of equal numbers the first wins.
template <typename T>
class LeastOf {
 public:
  LeastOf(std::size_t count, T value)
      : leaves_(std::bit_ceil(std::max<std::size_t>(count, 1))),
        values_(leaves_, std::numeric_limits<T>::max()),
        winners_(2 * leaves_) {
    std::fill_n(values_.begin(), count, value);
    for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = i;
    for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = better(node);
  }

  std::size_t place() const { return winners_[1]; }
  T operator[](std::size_t i) const { return values_[i]; }

  void set(std::size_t i, T value) {
    values_[i] = value;
    for (std::size_t node = (leaves_ + i) / 2; node > 0; node /= 2) winners_[node] = better(node);
  }

 private:
  std::size_t better(std::size_t node) const {
    const std::size_t left = winners_[2 * node], right = winners_[2 * node + 1];
    return values_[right] < values_[left] ? right : left;
  }

  std::size_t leaves_;
  std::vector<T> values_;
  std::vector<std::size_t> winners_;
};

}  // namespace rightsize::sim
