#include "calls.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include <pthread.h>

#include "base/cancel.h"
#include "object.h"

namespace rightsize::python {
namespace {

// Calls that run without Python's lock, and a fork that waits for them. New calls wait for the fork.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0;
  bool forking = false;
};
Running running;

void before_fork() {
  std::unique_lock lock(running.mutex);
  running.forking = true;
  running.changed.wait(lock, [] { return running.calls == 0; });
  lock.release();  // until after_fork
}
void after_fork() {
  running.forking = false;
  running.mutex.unlock();
  running.changed.notify_all();
}
// The threads that waited do not exist in the child.
void in_child() { new (&running) Running; }

// Work that continues after its caller was interrupted. The process must wait for it, because it uses objects that are
// destroyed at exit.
struct Abandoned {
  std::mutex mutex;
  std::vector<std::thread> threads;
};
Abandoned abandoned;

void end_abandoned() {
  const std::lock_guard lock(abandoned.mutex);
  for (std::thread& thread : abandoned.threads) thread.join();
  abandoned.threads.clear();
}

struct Call {
  Cancellation work = std::make_shared<Work>();
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<Checked<app::Outcome>> outcome;
  std::exception_ptr thrown;

  void run(const std::string& command, const std::vector<std::string>& words) {
    std::optional<Checked<app::Outcome>> made;
    std::exception_ptr mistake;
    try {
      const ForkGuard guard;
      const CancelScope scope(work);
      made = app::call(command, words);
    } catch (...) {
      mistake = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    outcome = std::move(made), thrown = mistake, done = true;
    ended.notify_all();
  }
  bool wait() {
    constexpr auto kPause = std::chrono::milliseconds(20);  // between looks for signals
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, kPause, [this] { return done; });
  }
};

unsigned long main_thread = 0;

}  // namespace

ForkGuard::ForkGuard() {
  std::unique_lock lock(running.mutex);
  running.changed.wait(lock, [] { return !running.forking; });
  ++running.calls;
}
ForkGuard::~ForkGuard() {
  const std::lock_guard lock(running.mutex);
  if (--running.calls == 0 && running.forking) running.changed.notify_all();
}

Checked<app::Outcome> call_interruptibly(const std::string& command, const std::vector<std::string>& words) {
  const auto call = std::make_shared<Call>();
  std::thread thread;
  if (PyThread_get_thread_ident() == main_thread) {
    try {
      thread = std::thread([call, command, words] { call->run(command, words); });
    } catch (const std::system_error&) {  // no more threads: without interruption
    }
  }
  if (!thread.joinable()) {
    const WithoutLock others_may_run;
    call->run(command, words);
  }
  for (bool done = !thread.joinable(); !done;) {
    {
      const WithoutLock others_may_run;
      done = call->wait();
    }
    if (done || PyErr_CheckSignals() == 0) continue;
    call->work->cancel();
    const std::lock_guard lock(abandoned.mutex);
    abandoned.threads.push_back(std::move(thread));
    throw Raised();
  }
  if (thread.joinable()) thread.join();
  if (call->thrown) std::rethrow_exception(call->thrown);
  return *std::move(call->outcome);
}

void prepare_calls() {
  const Object threading(PyImport_ImportModule("threading"));
  const Object main(PyObject_CallMethod(threading.get(), "main_thread", nullptr));
  const Object ident(PyObject_GetAttrString(main.get(), "ident"));
  main_thread = PyLong_AsUnsignedLong(ident.get());
  pthread_atfork(before_fork, after_fork, in_child);
  Py_AtExit(end_abandoned);
}

}  // namespace rightsize::python
