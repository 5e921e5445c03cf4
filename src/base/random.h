// The program's only source of random numbers: a small, fast generator (xoshiro256++, Blackman and Vigna 2019) with the
// distributions that queues need. The standard library's distributions differ between implementations; these give the
// same numbers everywhere.
#pragma once

#include <array>
#include <cstdint>

namespace rightsize {

class Random {
 public:
  // Neighbouring seeds give unrelated streams: the state is filled by splitmix64.
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Normal with mean 0 and standard deviation 1 (Box and Muller 1958).
  double normal();

  // Exponential with mean 1, by the ziggurat of Marsaglia and Tsang (2000): one table look-up in 98 % of draws.
  double exponential() {
    for (;;) {
      const std::uint64_t bits = next();
      const std::size_t layer = bits & 255u;
      const double x = static_cast<double>(bits >> 11) * 0x1.0p-53 * kTables.x[layer];
      if (x < kTables.x[layer + 1]) return x;
      if (layer == 0) return kTail + tail();
      if (in_wedge(layer, x)) return x;
    }
  }

 private:
  static constexpr double kTail = 7.69711747013104972;  // where the lowest layer ends
  struct Tables {
    std::array<double, 257> x;
    std::array<double, 257> y;
    Tables();
  };
  static const Tables kTables;

  static std::uint64_t rotate(std::uint64_t v, int by) { return (v << by) | (v >> (64 - by)); }
  double tail();
  bool in_wedge(std::size_t layer, double x);

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace rightsize
