// A shared library that is loaded when it is first asked for: most commands need no network, no server of a database
// and no solver, and loading those libraries with all they depend on takes longer than most answers.
#pragma once

#include <string>

#include "base/result.h"

namespace rightsize {

class LazyLibrary {
 public:
  // `name` as the loader knows it: "libcurl.so.4".
  explicit LazyLibrary(const char* name);

  // Why it could not be loaded; nothing when it was.
  const Result<>& loaded() const { return loaded_; }

  // Sets a pointer to a function by its name. A library without it counts as not loaded.
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  std::string name_;
  void* handle_ = nullptr;
  Result<> loaded_;
};

}  // namespace rightsize
