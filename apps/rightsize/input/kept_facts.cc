#include "rightsize/input/kept_facts.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

namespace rightsize::app {
namespace {

std::atomic<bool> keeping = false;

template <class Facts>
class Kept {
 public:
  Checked<Facts> get(const std::string& overlay, Checked<Facts> (*read)(const std::string&)) {
    if (!keeping) return read(overlay);
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[overlay];
    const auto now = std::chrono::steady_clock::now();
    if (!entry.facts || now - entry.read_at > std::chrono::minutes(1)) {
      RIGHTSIZE_TRY(Facts facts, read(overlay));
      entry = {std::make_shared<const Facts>(std::move(facts)), now};
    }
    return *entry.facts;
  }

 private:
  struct Entry {
    std::shared_ptr<const Facts> facts;
    std::chrono::steady_clock::time_point read_at;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

void keep_facts() { keeping = true; }

Checked<catalog::Catalog> read_catalog(const std::string& overlay) {
  static Kept<catalog::Catalog> kept;
  return kept.get(overlay, [](const std::string& folder) { return catalog::load_catalog(folder); });
}

Checked<perf::Constants> read_constants(const std::string& overlay) {
  static Kept<perf::Constants> kept;
  return kept.get(overlay, [](const std::string& folder) { return perf::load_constants(folder); });
}

}  // namespace rightsize::app
