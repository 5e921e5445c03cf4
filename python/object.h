// Owning references to Python objects. They use only Python's stable ABI, so one build works with Python 3.10 and
// later.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <string>
#include <string_view>
#include <utility>

#include <Python.h>

namespace rightsize::python {

// Thrown when a Python exception is set. Functions that Python calls catch it and return nullptr.
struct Raised {};

class Object {
 public:
  Object() = default;
  // Takes over a new reference; nullptr means that Python raised.
  explicit Object(PyObject* made) : object_(made) {
    if (made == nullptr) throw Raised();
  }
  static Object borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

inline Object to_object(std::string_view text) {
  return Object(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Releases Python's lock while it exists; other Python threads can run meanwhile.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() { PyEval_RestoreThread(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace rightsize::python
