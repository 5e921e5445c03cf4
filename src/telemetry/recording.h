// Recordings: a CSV file that read_samples() reads back, one row per GPU and reading.
//
// The first 21 columns are fixed (docs/profile.md); others may be added. A cell is empty if the source had no value.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

class RecordingWriter final : public SampleSink {
 public:
  // Creates the file, or fails with the system's reason. "-" is standard output.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path);
  ~RecordingWriter() override;
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  int open(const Device& device) override;
  void add(int device, const Sample& sample) override;

  // Flushes the file; fails if not everything could be written.
  Result<> finish();

 private:
  RecordingWriter(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void write(const std::string& text);

  std::FILE* file_;
  std::string path_;
  bool failed_ = false;
  std::vector<Device> devices_;
  std::string row_;
};

}  // namespace rightsize::telemetry
