// Records the GPUs of this machine in the background while Python runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/recording.h"
#include "telemetry/sampler.h"

namespace rightsize::python {

class Watch {
 public:
  // Starts at once and writes a reading of every GPU to the file `hertz` times per second. Fails without NVML or a
  // file.
  static Result<std::unique_ptr<Watch>> start(const std::string& file, double hertz);

  // Stops recording. Returns the processes seen on each GPU, in the order of the recording.
  Result<std::vector<std::vector<unsigned>>> stop();

 private:
  Watch(std::unique_ptr<telemetry::LiveSource> source, std::unique_ptr<telemetry::RecordingWriter> writer,
        double hertz);

  std::unique_ptr<telemetry::LiveSource> source_;
  std::unique_ptr<telemetry::RecordingWriter> writer_;
  telemetry::Sampler sampler_;
  bool stopped_ = false;
};

}  // namespace rightsize::python
