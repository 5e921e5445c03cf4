// The minimum of a set of numbers that change one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rightsize::sim {

// A tournament tree: the leaves are the numbers, every inner node holds the smaller of its two children, and a change
// updates one node per level. Among equal numbers the first wins.
template <typename T>
class MinTree {
 public:
  MinTree(std::size_t count, T value)
      : leaves_(std::bit_ceil(std::max<std::size_t>(count, 1))),
        nodes_(2 * leaves_, {std::numeric_limits<T>::max(), 0}) {
    for (std::size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].position = static_cast<std::uint32_t>(i);
    for (std::size_t i = 0; i < count; ++i) nodes_[leaves_ + i].value = value;
    for (std::size_t node = leaves_ - 1; node > 0; --node)
      nodes_[node] = winner(nodes_[2 * node], nodes_[2 * node + 1]);
  }

  std::size_t position() const { return nodes_[1].position; }
  T min() const { return nodes_[1].value; }
  T operator[](std::size_t i) const { return nodes_[leaves_ + i].value; }

  void set(std::size_t i, T value) {
    std::size_t node = leaves_ + i;
    if (nodes_[node].value == value) return;
    nodes_[node].value = value;
    // Branch prediction would fail half of the time here: selecting with conditional moves keeps all of it in
    // registers.
    T best = value;
    auto position = static_cast<std::uint32_t>(i);
    for (; node > 1; node /= 2) {
      const T other = nodes_[node ^ 1].value;
      const std::uint32_t there = nodes_[node ^ 1].position;
      const bool lost = (other < best) | ((other == best) & ((node & 1) != 0));
      best = lost ? other : best;
      position = lost ? there : position;
      nodes_[node / 2].value = best;
      nodes_[node / 2].position = position;
    }
  }

 private:
  struct Entry {
    T value;
    std::uint32_t position;
  };
  static Entry winner(const Entry& left, const Entry& right) { return right.value < left.value ? right : left; }

  std::size_t leaves_;
  std::vector<Entry> nodes_;
};

}  // namespace rightsize::sim
