#include "sim/run.h"

#include <algorithm>
#include <array>

#include "base/cancel.h"

namespace rightsize::sim {

constexpr std::size_t kBlock = 512;

std::size_t Run::feed(std::size_t wanted) {
  std::array<Arrival, kBlock> block;
  const std::size_t got = stream_->fill(std::span(block.data(), wanted));
  arrive(std::span(block.data(), got));
  return got;
}

LatencyProfile Run::until(std::uint64_t requests) {
  while (!ended_ && seen_ < requests) {
    const std::uint64_t stop = seen_ < warm_up_ ? std::min(warm_up_, requests) : requests;
    const std::size_t wanted = std::min<std::uint64_t>(kBlock, stop - seen_);
    const std::size_t got = feed(wanted);
    seen_ += got;
    if (warm_up_ > 0 && seen_ == warm_up_) start_measuring();
    ended_ = got < wanted || cancelled();
    if (ended_) advance(kNever);
  }
  LatencyProfile profile = measured();
  profile.requests = seen_ >= warm_up_ ? seen_ - warm_up_ : seen_;
  return profile;
}

LatencyProfile Run::to_the_end(std::uint64_t requests) {
  until(requests);
  ended_ = true;
  advance(kNever);
  return until(requests);
}

}  // namespace rightsize::sim
