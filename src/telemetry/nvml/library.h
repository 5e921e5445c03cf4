// NVML's library, loaded and started.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "telemetry/nvml/api.h"

namespace rightsize::telemetry::nvml {

class Library {
 public:
  static Result<std::unique_ptr<Library>> load();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Api& api() const { return api_; }
  std::string driver_version() const;
  unsigned device_count() const;

 private:
  Library() = default;
  void* handle_ = nullptr;
  Api api_{};
  bool started_ = false;
};

}  // namespace rightsize::telemetry::nvml
