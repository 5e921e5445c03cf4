// How far long work is, on the terminal, and Ctrl-C, which ends it with what it has.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace rightsize::app {

// While one exists: after two seconds a line on standard error says how much is done and how long the rest will take,
// if that is a terminal; Ctrl-C stops LongWork where some is under way, and ends the program otherwise.
class ProgressWatch {
 public:
  ProgressWatch();
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace rightsize::app
