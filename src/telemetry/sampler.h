// Reads a LiveSource at a steady pace on a thread of its own.
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
  double seconds = 0;                       // wall time between start and stop
  double processor_seconds = 0;             // of the sampling thread
  std::uint64_t late = 0;                   // readings that could not be taken in time
  std::vector<std::string> lost;            // GPUs that stopped answering, in words
  std::vector<std::set<unsigned>> seen_by;  // per device: processes seen on it
};

// Between start() and stop() the sink is called from the thread, and from nowhere else. Times are seconds since
// start().
class Sampler {
 public:
  Sampler(LiveSource& source, SampleSink& sink, double hertz) : source_(source), sink_(sink), period_(1 / hertz) {}
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void start();
  SamplerReport stop();

 private:
  void run();
  void read_all(double time);
  void look_at_processes();

  LiveSource& source_;
  SampleSink& sink_;
  double period_;
  std::vector<int> opened_;
  std::vector<bool> gone_;
  SamplerReport report_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rightsize::telemetry
