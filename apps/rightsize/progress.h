// Shows the progress of long work on the terminal. Ctrl-C ends the work early and keeps its results.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace rightsize::app {

// During its lifetime, if standard error is a terminal, a line there shows after two seconds how much is done and how
// long the rest will take. Ctrl-C cancels work in progress; if there is none, it ends the program.
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
