// JSON documents as Python values. An object of a known class becomes an instance of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "object.h"

namespace rightsize::python {

// A Python class, and the classes of the objects in its fields.
struct ResultType {
  using Inner = std::map<std::string, std::shared_ptr<const ResultType>, std::less<>>;

  Object type;
  Inner fields;  // also of lists of such objects
  Inner maps;    // objects with data as keys and such objects as values

  struct Member {
    std::string name;
    Object text;  // the name as a Python string
    const ResultType *field = nullptr, *map = nullptr;
    mutable std::string last_text = {};  // the last text of this field; `last` is its Python string
    mutable Object last = {};
  };
  // The member with this name. `at` is its position, usually the same as in the last document. Needs Python's lock.
  const Member& member(std::string_view name, std::size_t at) const;

 private:
  mutable std::map<std::string, Member, std::less<>> members_;
  mutable std::vector<const Member*> by_place_;
};

// A Python class with its _fields_of and _maps_of, recursively. Cached: there are few classes.
std::shared_ptr<const ResultType> result_type(PyObject* type);

// None, numbers, strings, lists and dictionaries; with a type, an instance of it.
Object to_python(const Json& value, const ResultType* type = nullptr);

// Sets all fields without the constructor, because the dataclasses are frozen.
Object instance_of(const ResultType& type, const Object& fields);

// A string; TypeError for anything else.
std::string text_of(PyObject* value);
// The value of a keyword as the text of a flag: 4 -> "4", True -> "true". TypeError for other types.
std::string flag_text(PyObject* value);

}  // namespace rightsize::python
