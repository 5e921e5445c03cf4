// The GPUs of this machine, read while somebody watches, for everybody who does.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http_server/exchange.h"
#include "market/price_book.h"
#include "rightsize/top/feed.h"

namespace rightsize::app {

// Sends "gpus" events, the document of `rightsize top`, once a second. Where there is nothing to read, one
// "unavailable" event says why. The prices must outlive it.
class LiveGpus {
 public:
  // `replay`: a recording to play instead of this machine's GPUs; empty: none.
  LiveGpus(std::string replay, double speed, const market::PriceBook& prices)
      : replay_(std::move(replay)), speed_(speed), prices_(prices) {}
  ~LiveGpus();
  LiveGpus(const LiveGpus&) = delete;
  LiveGpus& operator=(const LiveGpus&) = delete;

  void watch(std::shared_ptr<http_server::EventStream> stream);

 private:
  void run();
  void send(const std::string& event, const std::string& text);
  bool is_wanted();

  const std::string replay_;
  const double speed_;
  const market::PriceBook& prices_;
  std::mutex mutex_;
  bool ending_ = false, running_ = false;
  std::vector<std::shared_ptr<http_server::EventStream>> watchers_;
  std::thread thread_;
};

}  // namespace rightsize::app
