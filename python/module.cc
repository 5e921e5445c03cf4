// rightsize._core: the commands, called in process. Users import python/rightsize/.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "calls.h"
#include "fields.h"
#include "object.h"
#include "report/report.h"
#include "rightsize/call.h"
#include "rightsize/estimate/estimator.h"
#include "rightsize/manual/schemas.h"
#include "values.h"
#include "watch.h"

namespace rightsize::python {
namespace {

using app::Outcome;

// Raises rightsize.InputError, SourceError or Bug (errors.py) with the text that the program would print.
[[noreturn]] void raise(const Errors& errors) {
  Json all = Json::array();
  for (const Error& error : errors) {
    all.push_back({{"message", error.message},
                   {"hints", error.hints},
                   {"file", error.place.file},
                   {"line", error.place.line},
                   {"column", error.place.column}});
  }
  const char* name = errors.front().code == ErrorCode::kBadInput           ? "InputError"
                     : errors.front().code == ErrorCode::kUnreadableSource ? "SourceError"
                                                                           : "Bug";
  const Object module(PyImport_ImportModule("rightsize.errors"));
  const Object type(PyObject_GetAttrString(module.get(), name));
  const Object text = to_object(describe(errors)), details = to_python(all);
  const Object raised(PyObject_CallFunctionObjArgs(type.get(), text.get(), details.get(), nullptr));
  PyErr_SetObject(type.get(), raised.get());
  throw Raised();
}

// Python calls these functions, so no C++ exception may leave them.
template <class Body>
PyObject* guarded(Body body) noexcept {
  try {
    return body().release();
  } catch (const Raised&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& unexpected) {
    PyErr_SetString(PyExc_RuntimeError, unexpected.what());
  }
  return nullptr;
}

std::vector<std::string> texts_of(PyObject* sequence) {
  const Object list(PySequence_List(sequence));
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) texts.push_back(text_of(PyList_GetItem(list.get(), i)));
  return texts;
}

// A Python object that holds a C++ value.
template <class Value>
struct Holder {
  PyObject_HEAD Value* value;
};

template <class Value>
Value& held(PyObject* self) {
  return *reinterpret_cast<Holder<Value>*>(self)->value;
}

template <class Value>
void release(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<Holder<Value>*>(self)->value;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

template <class Value>
Object hold(PyTypeObject* type, std::unique_ptr<Value> value) {
  Object made(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
  reinterpret_cast<Holder<Value>*>(made.get())->value = value.release();
  return made;
}

// Answer: a report that can be rendered.

PyTypeObject* answer_type = nullptr;

PyObject* answer_document(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    PyObject* type = Py_None;
    if (PyArg_ParseTuple(arguments, "|O:document", &type) == 0) throw Raised();
    return held<Outcome>(self).report.with_document([type](const Json& document) {
      return to_python(document, type == Py_None ? nullptr : result_type(type).get());
    });
  });
}

PyObject* answer_render(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"format", "width", "quiet", nullptr};
    const char* format = "";
    Py_ssize_t width = 100;
    int quiet = 0;
    if (PyArg_ParseTupleAndKeywords(arguments, keywords, "s|np:render", const_cast<char**>(names), &format, &width,
                                    &quiet) == 0)
      throw Raised();
    const Result<report::Format> parsed = report::parse_format(format);
    if (!parsed) raise(parsed.error());
    report::Style style;
    style.width = static_cast<std::size_t>(width), style.quiet = quiet != 0;
    return to_object(report::render(held<Outcome>(self).report, *parsed, style));
  });
}

PyObject* answer_schema(PyObject* self, void*) {
  return guarded([&] {
    const Json* name = held<Outcome>(self).report.document.find("schema");
    return to_object(name != nullptr && name->text() != nullptr ? *name->text() : std::string());
  });
}

PyObject* answer_exit_code(PyObject* self, void*) {
  return guarded([&] { return Object(PyLong_FromLong(held<Outcome>(self).exit_code)); });
}

PyObject* call(PyObject*, PyObject* arguments) {
  return guarded([&] {
    const char* command = "";
    PyObject* words = nullptr;
    if (PyArg_ParseTuple(arguments, "sO:call", &command, &words) == 0) throw Raised();
    const std::vector<std::string> texts = texts_of(words);
    Checked<Outcome> outcome = call_interruptibly(command, texts);
    if (!outcome) raise(outcome.error());
    return hold(answer_type, std::make_unique<Outcome>(*std::move(outcome)));
  });
}

// Estimates. The catalogue and the constants are read once; reload() reads them again.
class KeptFacts {
 public:
  Checked<std::shared_ptr<const app::Facts>> get() {
    const std::lock_guard lock(mutex_);
    if (!facts_) {
      RIGHTSIZE_TRY(app::Facts facts, app::open_facts(""));
      facts_ = std::make_shared<const app::Facts>(std::move(facts));
    }
    return facts_;
  }
  int version() const { return version_; }
  void forget() {
    const std::lock_guard lock(mutex_);
    facts_.reset();
    ++version_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const app::Facts> facts_;
  std::atomic<int> version_ = 0;
};
KeptFacts kept_facts;

// This thread's estimator. Creating a result can run Python's garbage collector, which can run any code, even another
// estimate. The estimator therefore stays busy until the result is complete, because the result reads its input.
struct OwnEstimator {
  std::unique_ptr<app::Estimator> estimator;  // nullptr if the catalogue cannot be read
  int of_version = -1;
  bool is_busy = false;
};

OwnEstimator& own_estimator() {
  thread_local OwnEstimator mine;
  if (mine.is_busy || (mine.estimator && mine.of_version == kept_facts.version())) return mine;
  mine.of_version = kept_facts.version();
  Checked<std::shared_ptr<const app::Facts>> facts = kept_facts.get();
  mine.estimator = facts ? std::make_unique<app::Estimator>(*std::move(facts)) : nullptr;
  return mine;
}

class Busy {
 public:
  explicit Busy(OwnEstimator& mine) : mine_(mine) { mine_.is_busy = true; }
  ~Busy() { mine_.is_busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  OwnEstimator& mine_;
};

// "max_batch" -> "max-batch", "from_" -> "from".
std::string flag_name(PyObject* keyword) {
  std::string name = text_of(keyword);
  if (name.ends_with('_')) name.pop_back();
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

app::EstimateFlags estimate_flags(PyObject* model, PyObject* gpu, PyObject* settings) {
  app::EstimateFlags flags;
  flags.job.model = text_of(model);
  if (gpu != Py_None) flags.job.gpu = text_of(gpu);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(settings, &at, &key, &value) != 0;) {
    if (value != Py_None) app::set(flags, flag_name(key), flag_text(value));
  }
  return flags;
}

Object estimate_object(const app::Estimator::Answer& answer, const ResultType& type, bool all) {
  const app::SpeedAnswer whole{*answer.input, answer.estimate};
  if (all || !answer.estimate) return to_python(app::document_of(whole), &type);
  Fields fields(type);
  app::read_numbers(whole, fields);
  return fields.take();
}

// estimate(type, model, gpu, settings, all): an instance of the type, with numbers only unless `all`. None if the
// estimate fails; the caller then runs the command, which explains why.
PyObject* estimate(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count != 5 || !PyDict_Check(arguments[3])) {
      PyErr_SetString(PyExc_TypeError, "estimate(type, model, gpu, settings, all)");
      throw Raised();
    }
    PyObject *type = arguments[0], *model = arguments[1], *gpu = arguments[2], *settings = arguments[3];
    const bool all = arguments[4] == Py_True;
    const app::EstimateFlags flags = estimate_flags(model, gpu, settings);
    Checked<app::Estimator::Answer> answer = fail(Errors{});
    std::optional<Busy> until_made;
    {
      const WithoutLock others_may_run;
      const ForkGuard guard;
      if (OwnEstimator& mine = own_estimator(); !mine.is_busy && mine.estimator) {
        until_made.emplace(mine);
        answer = mine.estimator->answer(flags);
      }
    }
    return answer ? estimate_object(*answer, *result_type(type), all) : Object::borrowed(Py_None);
  });
}

PyObject* reload(PyObject*, PyObject*) {
  return guarded([] {
    kept_facts.forget();
    return Object::borrowed(Py_None);
  });
}

// The commands and their flags.

PyObject* commands(PyObject*, PyObject*) {
  return guarded([] { return to_python(Json(app::command_names())); });
}

PyObject* describe_command(PyObject*, PyObject* name) {
  return guarded([&] {
    const Result<app::CommandInfo> info = app::describe_command(text_of(name));
    if (!info) raise(info.error());
    return to_python(app::describe_flags(*info));
  });
}

// Watch(file, hz): starts recording; stop() returns the processes seen on each GPU.

PyObject* watch_new(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&] {
    const char* file = "";
    double hertz = 1;
    if (PyArg_ParseTuple(arguments, "sd:Watch", &file, &hertz) == 0) throw Raised();
    Result<std::unique_ptr<Watch>> started = Watch::start(file, hertz);
    if (!started) raise(started.error());
    return hold(type, *std::move(started));
  });
}

PyObject* watch_stop(PyObject* self, PyObject*) {
  return guarded([&] {
    Result<std::vector<std::vector<unsigned>>> seen = std::vector<std::vector<unsigned>>();
    {
      const WithoutLock others_may_run;
      const ForkGuard guard;
      seen = held<Watch>(self).stop();
    }
    if (!seen) raise(seen.error());
    Json list = Json::array();
    for (const std::vector<unsigned>& processes : *seen) list.push_back(Json(processes));
    return to_python(list);
  });
}

template <class Function>
PyCFunction as_function(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyTypeObject* add_type(PyObject* module, PyType_Spec& spec) {
  Object type(PyType_FromSpec(&spec));
  if (PyObject_SetAttrString(module, spec.name + sizeof "rightsize._core", type.get()) != 0) throw Raised();
  return reinterpret_cast<PyTypeObject*>(type.release());  // lives as long as the process
}

// The first line of a documentation string is the Python signature: tools/python_types makes _core.pyi from these
// lines.
void add_types(PyObject* module) {
  static PyMethodDef answer_methods[] = {
      {"document", as_function(answer_document), METH_VARARGS,
       "document(type: type | None = ...) -> Any\n\nThe JSON document; with a class, an instance of it."},
      {"render", as_function(answer_render), METH_VARARGS | METH_KEYWORDS,
       "render(format: str, width: int = ..., quiet: bool = ...) -> str\n\nThe report: text, json, csv, md or html."},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef answer_properties[] = {{"schema", answer_schema, nullptr, "schema: str", nullptr},
                                            {"exit_code", answer_exit_code, nullptr, "exit_code: int", nullptr},
                                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot answer_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(release<Outcome>)},
                                       {Py_tp_methods, answer_methods},
                                       {Py_tp_getset, answer_properties},
                                       {0, nullptr}};
  static PyType_Spec answer_spec = {"rightsize._core.Answer", sizeof(Holder<Outcome>), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, answer_slots};
  answer_type = add_type(module, answer_spec);
  static PyMethodDef watch_methods[] = {
      {"stop", watch_stop, METH_NOARGS,
       "stop() -> list[list[int]]\n\nEnds the recording. Returns the processes seen on each GPU."},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot watch_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(release<Watch>)},
                                      {Py_tp_new, reinterpret_cast<void*>(watch_new)},
                                      {Py_tp_methods, watch_methods},
                                      {Py_tp_doc, const_cast<char*>("__init__(file: str, hz: float) -> None")},
                                      {0, nullptr}};
  static PyType_Spec watch_spec = {"rightsize._core.Watch", sizeof(Holder<Watch>), 0, Py_TPFLAGS_DEFAULT, watch_slots};
  add_type(module, watch_spec);
}

PyObject* make_module() {
  static PyMethodDef functions[] = {
      {"call", call, METH_VARARGS, "call(command: str, words: Sequence[str]) -> Answer\n\nThe answer of a command."},
      {"estimate", as_function(estimate), METH_FASTCALL,
       "estimate(type: type, model: str, gpu: str | None, settings: dict[str, Any], all: bool) -> Any\n\nAn estimate, "
       "for "
       "loops. None where it fails."},
      {"reload", reload, METH_NOARGS, "reload() -> None\n\nReads the catalogue again."},
      {"commands", commands, METH_NOARGS, "commands() -> list[str]\n\nThe names of the commands."},
      {"describe", describe_command, METH_O, "describe(command: str) -> dict[str, Any]\n\nA command's flags."},
      {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "_core",
                                   "The commands of rightsize, called in process.",
                                   -1,
                                   functions,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  return guarded([] {
    Object module(PyModule_Create(&definition));
    if (PyModule_AddStringConstant(module.get(), "__version__", RIGHTSIZE_VERSION) != 0) throw Raised();
    add_types(module.get());
    prepare_calls();
    return module;
  });
}

}  // namespace
}  // namespace rightsize::python

PyMODINIT_FUNC PyInit__core() { return rightsize::python::make_module(); }  // NOLINT: Python's name for it
