// The GPUs of this machine, read only while a client watches.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http_server/message.h"
#include "market/price_book.h"
#include "rightsize/top/feed.h"

namespace rightsize::app {

// Sends "gpus" events, the document of `rightsize top`, once a second; if no GPU can be read, "unavailable" events with
// the reason. The prices must outlive it.
class LiveGpus {
 public:
  // `replay`: a recording to play instead, or empty.
  LiveGpus(std::string replay, double speed, const market::PriceBook& prices)
      : replay_(std::move(replay)), speed_(speed), prices_(prices) {}
  ~LiveGpus();
  LiveGpus(const LiveGpus&) = delete;
  LiveGpus& operator=(const LiveGpus&) = delete;

  void watch(std::shared_ptr<http_server::EventStream> stream);
  bool is_replay() const { return !replay_.empty(); }

 private:
  void run();
  void send(const std::string& event, const std::string& text);
  bool has_watchers();

  const std::string replay_;
  const double speed_;
  const market::PriceBook& prices_;
  std::mutex mutex_;
  bool stopping_ = false, running_ = false;
  std::vector<std::shared_ptr<http_server::EventStream>> watchers_;
  std::thread thread_;
};

}  // namespace rightsize::app
