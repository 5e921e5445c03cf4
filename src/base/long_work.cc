#include "base/long_work.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace rightsize {
namespace {

std::mutex name_mutex;
std::string name;  // of the work under way
std::atomic<std::uint64_t> so_far{0}, of_all{0};
std::atomic<int> under_way{0};
std::atomic<bool> asked{false};

}  // namespace

LongWork::LongWork(std::string what, std::uint64_t total) {
  const std::lock_guard lock(name_mutex);
  name = std::move(what);
  so_far = 0;
  of_all = total;
  ++under_way;
}

LongWork::~LongWork() { --under_way; }

void LongWork::step(std::uint64_t done) { so_far.fetch_add(done, std::memory_order_relaxed); }
bool LongWork::stopped() { return asked.load(std::memory_order_relaxed); }

bool LongWork::ask_to_stop() {
  if (under_way == 0) return false;
  asked = true;
  return true;
}

std::optional<LongWork::State> LongWork::now() {
  if (under_way == 0) return std::nullopt;
  const std::lock_guard lock(name_mutex);
  return State{name, so_far, of_all};
}

}  // namespace rightsize
