// The GPUs of this machine, recorded while Python does something else.
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
  // Begins at once: a reading of every GPU `hertz` times a second, into the file. Fails without NVML or a file.
  static Result<std::unique_ptr<Watch>> start(const std::string& file, double hertz);

  // Ends it. Of each GPU, in the order of the recording: the processes seen on it.
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
