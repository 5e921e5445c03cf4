// A shared library that is loaded on first use: most commands need no network, database server or solver, and loading
// those libraries with all their dependencies takes longer than most answers.
//
//   struct Libpq : LazyLibrary {
//     Libpq() : LazyLibrary("libpq.so.5") {}
//     RIGHTSIZE_SYMBOL(PQ, clear);  // a pointer named `clear` to PQclear
//   };
//
// Check loaded() before calling a function: if it failed, the pointers are null.
#pragma once

#include <string>

#include "base/result.h"

namespace rightsize {

class LazyLibrary {
 public:
  // The name that the loader looks for: "libcurl.so.4".
  explicit LazyLibrary(const char* name);

  // Fails with kUnreadableSource if the library or one of its functions is missing.
  const Result<>& loaded() const { return loaded_; }

 protected:
  template <class Function>
  Function* find(const char* name) {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  std::string name_;
  void* handle_ = nullptr;
  Result<> loaded_;
};

}  // namespace rightsize

#define RIGHTSIZE_SYMBOL(prefix, name) decltype(::prefix##name)* name = find<decltype(::prefix##name)>(#prefix #name)
