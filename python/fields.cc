#include "fields.h"

#include <cmath>

namespace rightsize::python {
namespace {

struct Maker {
  const ResultType::Member& member;

  Object operator()(std::nullptr_t) const { return Object::borrowed(Py_None); }
  Object operator()(bool value) const { return Object::borrowed(value ? Py_True : Py_False); }
  Object operator()(std::int64_t value) const { return Object(PyLong_FromLongLong(value)); }
  Object operator()(double value) const {
    return std::isfinite(value) ? Object(PyFloat_FromDouble(value)) : Object::borrowed(Py_None);
  }
  // Names of GPUs, stacks and so on are mostly the same as in the previous estimate.
  Object operator()(std::string_view text) const {
    if (member.last.get() == nullptr || member.last_text != text) {
      member.last = to_object(text);
      member.last_text = text;
    }
    return Object::borrowed(member.last.get());
  }
};

}  // namespace

void Fields::add(std::string_view name, const report::FieldValue& value) {
  const ResultType::Member& member = type_.member(name, at_++);
  const Object made = std::visit(Maker{member}, value);
  if (PyDict_SetItem(fields_.get(), member.text.get(), made.get()) != 0) throw Raised();
}

}  // namespace rightsize::python
