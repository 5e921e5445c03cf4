#include "values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rightsize::python {
namespace {

// Names recur in every document, so Python keeps one copy of each.
Object name_object(const std::string& name) { return Object(PyUnicode_InternFromString(name.c_str())); }

void set_item(const Object& dictionary, const std::string& name, const Object& value) {
  if (PyDict_SetItem(dictionary.get(), name_object(name).get(), value.get()) != 0) throw Raised();
}

const ResultType* find(const ResultType::Inner& types, std::string_view name) {
  const auto found = types.find(name);
  return found == types.end() ? nullptr : found->second.get();
}

// `type` is the class of an object, or of every item of a list.
struct Converter {
  const ResultType* type;

  Object operator()(std::nullptr_t) const { return Object::borrowed(Py_None); }
  Object operator()(bool value) const { return Object(PyBool_FromLong(value ? 1 : 0)); }
  Object operator()(std::int64_t value) const { return Object(PyLong_FromLongLong(value)); }
  Object operator()(std::uint64_t value) const { return Object(PyLong_FromUnsignedLongLong(value)); }
  // As in the JSON document, values that are not finite are null.
  Object operator()(double value) const {
    return std::isfinite(value) ? Object(PyFloat_FromDouble(value)) : Object::borrowed(Py_None);
  }
  Object operator()(const std::string& text) const { return to_object(text); }
  Object operator()(const Json::Array& items) const {
    Object made(PyList_New(static_cast<Py_ssize_t>(items.size())));
    Py_ssize_t at = 0;
    for (const Json& item : items) PyList_SetItem(made.get(), at++, item.visit(*this).release());
    return made;
  }
  Object operator()(const Json::Object& members) const {
    Object made(PyDict_New());
    std::size_t at = 0;
    for (const auto& [name, member] : members) {
      if (type == nullptr)
        set_item(made, name, member.visit(*this));
      else
        set_member(made, type->member(name, at++), member);
    }
    return type == nullptr ? std::move(made) : instance_of(*type, made);
  }

 private:
  static void set_member(const Object& fields, const ResultType::Member& member, const Json& value) {
    const Object made =
        member.map != nullptr ? value.visit(MapConverter{member.map}) : value.visit(Converter{member.field});
    if (PyDict_SetItem(fields.get(), member.text.get(), made.get()) != 0) throw Raised();
  }

  // An object with values of this class.
  struct MapConverter {
    const ResultType* of_values;

    Object operator()(const Json::Object& members) const {
      Object made(PyDict_New());
      for (const auto& [name, member] : members) set_item(made, name, member.visit(Converter{of_values}));
      return made;
    }
    template <class Other>
    Object operator()(const Other& value) const {
      return Converter{nullptr}(value);
    }
  };
};

ResultType::Inner inner_types(PyObject* type, const char* attribute) {
  const Object classes(PyObject_GetAttrString(type, attribute));
  ResultType::Inner made;
  PyObject *name = nullptr, *inner = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(classes.get(), &at, &name, &inner) != 0;)
    made[text_of(name)] = inner == type ? nullptr : result_type(inner);
  return made;
}

}  // namespace

const ResultType::Member& ResultType::member(std::string_view name, std::size_t at) const {
  if (at < by_place_.size() && by_place_[at]->name == name) return *by_place_[at];
  auto known = members_.find(name);
  if (known == members_.end())
    known = members_
                .emplace(name, Member{std::string(name), name_object(std::string(name)), find(fields, name),
                                      find(maps, name)})
                .first;
  by_place_.resize(std::max(by_place_.size(), at + 1), &known->second);
  by_place_[at] = &known->second;
  return known->second;
}

std::shared_ptr<const ResultType> result_type(PyObject* type) {
  // Never freed, because Python may be finalized before static variables are destroyed.
  static auto& kept = *new std::map<PyObject*, std::shared_ptr<ResultType>>;
  if (const auto found = kept.find(type); found != kept.end()) return found->second;
  const auto made = std::make_shared<ResultType>();
  kept[type] = made;
  made->type = Object::borrowed(type);
  made->fields = inner_types(type, "_fields_of");
  made->maps = inner_types(type, "_maps_of");
  // A class can contain itself: a recommendation for several workloads.
  for (auto& [name, inner] : made->fields) {
    if (inner == nullptr) inner = made;
  }
  return made;
}

Object instance_of(const ResultType& type, const Object& fields) {
  auto* python_type = reinterpret_cast<PyTypeObject*>(type.type.get());
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(python_type, Py_tp_alloc));
  Object instance(allocate(python_type, 0));
  if (PyObject_GenericSetDict(instance.get(), fields.get(), nullptr) != 0) throw Raised();
  return instance;
}

Object to_python(const Json& value, const ResultType* type) { return value.visit(Converter{type}); }

std::string text_of(PyObject* value) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) throw Raised();
  return {text, static_cast<std::size_t>(size)};
}

std::string flag_text(PyObject* value) {
  if (PyUnicode_Check(value)) return text_of(value);
  if (PyBool_Check(value)) return value == Py_True ? "true" : "false";
  if (PyLong_Check(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return fmt::format_int(number).str();
  }
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
    return is_whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
  }
  PyErr_SetString(PyExc_TypeError, "a setting is text, a number or a bool");
  throw Raised();
}

}  // namespace rightsize::python
