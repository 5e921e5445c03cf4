#include "telemetry/nvml/library.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace rightsize::telemetry::nvml {
namespace {

std::string meaning(Return code) {
  switch (code) {
    case 9:
      return "the driver is not loaded";
    case 4:
      return "no permission to use the GPU";
    case 18:
      return "driver and library have different versions; reboot after an update";
    case 12:
      return "the driver's library was not found";
    default:
      return fmt::format("NVML error {}", code);
  }
}

}  // namespace

void* Library::find(std::initializer_list<const char*> names) const {
  for (const char* symbol : names) {
    if (void* found = dlsym(handle_, symbol)) return found;
  }
  return nullptr;
}

Result<std::unique_ptr<Library>> Library::load() {
  const char* named = std::getenv("RIGHTSIZE_NVML");
  const char* path = named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
  void* loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    return fail(unreadable("no NVIDIA driver on this machine: " + std::string(path) + " cannot be loaded")
                    .with_hint("run this on the machine with the GPU, or replay a recording with --replay FILE"));
  }
  auto library = std::unique_ptr<Library>(new Library(loaded));
  if (!library->init_.exists() || !library->count_.exists() || !library->handle.exists() ||
      !library->shutdown_.exists()) {
    return fail(unreadable(fmt::format("{} is not an NVML library, or is too old", path))
                    .with_hint("a driver of version 450 or later is needed"));
  }
  if (const Return code = library->init_(); code != kSuccess) {
    return fail(
        unreadable("the NVIDIA driver does not answer: " + meaning(code)).with_hint("make 'nvidia-smi' work first"));
  }
  library->started_ = true;
  if (library->device_count() == 0) return fail(unreadable("the driver is running but sees no GPU"));
  return library;
}

Library::~Library() {
  if (started_) shutdown_();
  dlclose(handle_);
}

std::string Library::driver_version() const {
  char text[96] = {};
  return driver_(text, sizeof text) == kSuccess ? text : "unknown";
}

unsigned Library::device_count() const {
  unsigned number = 0;
  return count_(&number) == kSuccess ? number : 0;
}

}  // namespace rightsize::telemetry::nvml
