// Two threads for one plan: one works, the other simulates what will be needed next.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/threads.h"

namespace rightsize::plan {

// Runs both at once if there is a second thread, otherwise one after the other.
inline void at_once(const std::function<void()>& first, const std::function<void()>& second) {
  for_each_index(2, 2, [&](std::size_t mine) { (mine == 0 ? first : second)(); });
}

using Look = std::function<void()>;

// Does `work` while another thread runs the simulations that it will probably need next. Results are kept, and they do
// not depend on the thread.
inline void with_look_ahead(const std::vector<Look>& looks, const std::function<void()>& work) {
  constexpr std::size_t kWorthAThread = 3;
  if (looks.size() < kWorthAThread) return work();
  std::atomic<bool> done = false;
  struct AtEnd {  // also when `work` throws
    std::atomic<bool>& flag;
    ~AtEnd() { flag = true; }
  };
  at_once(
      [&] {
        const AtEnd end{done};
        work();
      },
      [&] {
        for (auto look = looks.begin(); look != looks.end() && !done; ++look) (*look)();
      });
}

}  // namespace rightsize::plan
