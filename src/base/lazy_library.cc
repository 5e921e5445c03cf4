#include "base/lazy_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace rightsize {

LazyLibrary::LazyLibrary(const char* name) : name_(name), handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* why = dlerror();
  loaded_ = fail(unreadable(fmt::format("{} cannot be loaded: {}", name_, why != nullptr ? why : "unknown")));
}

void* LazyLibrary::symbol(const char* name) {
  void* found = handle_ == nullptr ? nullptr : dlsym(handle_, name);
  if (found == nullptr && loaded_) loaded_ = fail(unreadable(fmt::format("{} has no {}", name_, name)));
  return found;
}

}  // namespace rightsize
