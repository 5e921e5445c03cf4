// Documents as Python values. An object whose class is known becomes an instance of it: its fields are the members.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "object.h"

namespace rightsize::python {

// A Python class, and the classes of the objects within its fields.
struct ResultType {
  using Inner = std::map<std::string, std::shared_ptr<const ResultType>, std::less<>>;

  Object type;
  Inner fields;  // also of lists of such objects
  Inner maps;    // objects whose keys are data and whose values are such objects

  struct Member {
    std::string name;
    Object text;  // the name as Python has it
    const ResultType *field = nullptr, *map = nullptr;
    mutable std::string last_text = {};  // and the object made of it
    mutable Object last = {};
  };
  // What is known of a member. `at`: its place in the document; members mostly stand where they stood in the last one.
  // To be called with Python's lock.
  const Member& member(std::string_view name, std::size_t at) const;

 private:
  mutable std::map<std::string, Member, std::less<>> members_;
  mutable std::vector<const Member*> by_place_;
};

// What `results.py` says of a class: its _fields_of and _maps_of, all the way down. Kept: classes are few.
std::shared_ptr<const ResultType> result_type(PyObject* type);

// Null, numbers, texts, lists and dictionaries; with a type, an instance of it.
Object to_python(const Json& value, const ResultType* type = nullptr);

// Dataclasses are frozen: an instance without its constructor, and its fields all at once.
Object instance_of(const ResultType& type, const Object& fields);

// A text; TypeError for anything else.
std::string text_of(PyObject* value);
// A value of a keyword as the text of a flag: 4 -> "4", True -> "true". TypeError for what is no such value.
std::string flag_text(PyObject* value);

}  // namespace rightsize::python
