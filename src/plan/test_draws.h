// For tests: random settings of requests. RIGHTSIZE_RANDOM_REQUESTS sets their number.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "plan/test_requests.h"

namespace rightsize::plan {

// RIGHTSIZE_RANDOM_SEED selects other requests.
inline std::uint64_t first_seed() {
  const char* given = std::getenv("RIGHTSIZE_RANDOM_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

inline int requests_to_try() {
  const char* given = std::getenv("RIGHTSIZE_RANDOM_REQUESTS");
  return given == nullptr ? 6 : std::atoi(given);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::string one_of(std::initializer_list<const char*> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random_.uniform() * static_cast<double>(list.size())));
  }
  // Log-uniform between the two.
  double between(double low, double high) { return low * std::pow(high / low, random_.uniform()); }
  std::string whole(double low, double high) { return std::to_string(std::lround(between(low, high))); }

 private:
  Random random_;
};

inline std::string shown(const Given& settings) {
  std::string text = "rightsize recommend";
  for (const auto& [name, value] : settings) text.append(" --").append(name).append(" ").append(value);
  return text;
}

}  // namespace rightsize::plan
