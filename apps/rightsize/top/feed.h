// What `rightsize top` looks at: this machine's GPUs, or a recording played again.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

// Where the samples of the screen come from.
class TopFeed {
 public:
  virtual ~TopFeed() = default;
  // The screen so long after the start.
  virtual void update(Seconds elapsed, TopScreen& screen) = 0;
  virtual Seconds settle() const = 0;  // until --once has something to show
};

// The GPUs of this machine, read once every `period`.
Result<std::unique_ptr<TopFeed>> open_live_feed(Seconds period);
// A file, `speed` times faster than it was recorded.
Result<std::unique_ptr<TopFeed>> open_replay_feed(const std::string& file, double speed);

}  // namespace rightsize::app
