// Remembers what a function of a text returned, for functions that are called many times with the same few texts.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace rightsize {

// May be used by several threads. The function must always return the same for the same text; it may be called again.
template <class Value>
class Memo {
 public:
  template <class Compute>
  Value get(std::string_view text, const Compute& compute) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = known_.find(text); found != known_.end()) return found->second;
    }
    const Value value = compute(text);
    constexpr std::size_t kMost = 10'000;  // a server lives long
    const std::lock_guard lock(mutex_);
    if (known_.size() < kMost) known_.emplace(text, value);
    return value;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value, std::less<>> known_;
};

}  // namespace rightsize
