// Reads a LiveSource at a steady pace on a separate thread.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/live.h"

namespace rightsize::telemetry {

struct SamplerReport {
  Seconds wall;                             // between start and stop
  Seconds processor;                        // of the sampling thread
  std::uint64_t late = 0;                   // readings that could not be taken in time
  std::vector<std::string> lost;            // messages about GPUs that stopped responding
  std::vector<std::set<unsigned>> seen_by;  // per device: processes seen on it
};

// Between start() and stop() only the thread calls the sink. Times count from start().
class Sampler {
 public:
  Sampler(LiveSource& source, SampleSink& sink, Seconds period) : source_(source), sink_(sink), period_(period) {}
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void start();
  SamplerReport stop();

 private:
  void run();
  void read_all(Seconds since_start);
  void look_at_processes();

  LiveSource& source_;
  SampleSink& sink_;
  Seconds period_;
  std::vector<int> opened_;
  std::vector<bool> gone_;
  SamplerReport report_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rightsize::telemetry
