// Users who wait for an answer before they think about the next turn. Internal to the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/arrivals.h"

namespace rightsize::sim {

class ClosedUsers {
 public:
  explicit ClosedUsers(const ClosedLoop& loop)
      : loop_(&loop), at_(loop.first.begin(), loop.first.end() - 1), open_(at_.size(), 0), user_of_(1, 0) {
    for (std::uint32_t user = 0; user < at_.size(); ++user) {
      for (std::uint32_t i = loop.first[user]; i < loop.first[user + 1]; ++i) {
        const std::uint32_t prompt = loop.turns[i].prompt;
        if (user_of_.size() <= prompt) user_of_.resize(prompt + 1);
        user_of_[prompt] = user;
      }
      begin_turn(user, 0);
    }
  }

  // When the next request arrives unless an answer comes first; kNever if all users wait or are done.
  SimTime next() const { return due_.empty() ? kNever : due_.top().at; }

  Arrival take() {
    const Due due = due_.top();
    due_.pop();
    Arrival arrival = loop_->turns[due.turn];
    arrival.at = due.at;
    return arrival;
  }

  // The answer to a request is complete, or the request was refused.
  void answered(std::uint32_t prompt, SimTime now) {
    const std::uint32_t user = user_of_[prompt];
    if (--open_[user] == 0) begin_turn(user, now);
  }

 private:
  struct Due {
    SimTime at = 0;
    std::uint32_t turn = 0;
    bool operator>(const Due& o) const { return at != o.at ? at > o.at : turn > o.turn; }
  };

  // The requests of a turn arrive together.
  void begin_turn(std::uint32_t user, SimTime now) {
    const std::uint32_t end = loop_->first[user + 1];
    for (int side = 0; side < loop_->side_by_side && at_[user] < end; ++side, ++at_[user], ++open_[user])
      due_.push({now + loop_->turns[at_[user]].at, at_[user]});
  }

  const ClosedLoop* loop_;
  std::vector<std::uint32_t> at_;       // the next request of each user
  std::vector<std::int32_t> open_;      // requests of each user that are not answered
  std::vector<std::uint32_t> user_of_;  // by prompt
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace rightsize::sim
