// The source of `rightsize top`: this machine's GPUs, or the replay of a recording.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

class TopFeed {
 public:
  virtual ~TopFeed() = default;
  // Updates the screen to `elapsed` after the start.
  virtual void update(Seconds elapsed, TopScreen& screen) = 0;
  virtual Seconds settle() const = 0;  // how long --once waits for samples
};

// The GPUs of this machine, read once every `period`.
Result<std::unique_ptr<TopFeed>> open_live_feed(Seconds period);
// A recording, `speed` times as fast.
Result<std::unique_ptr<TopFeed>> open_replay_feed(const std::string& file, double speed);

}  // namespace rightsize::app
