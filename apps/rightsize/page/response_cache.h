// A cache of recent responses: identical requests are computed once.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "http_server/message.h"

namespace rightsize::app {

// Least recently used responses go first when there are more than `max_bytes`; none is older than `lifetime`, and
// errors are not cached. Identical requests at the same time share one computation.
class ResponseCache {
 public:
  using Compute = std::function<http_server::Response()>;

  ResponseCache(std::size_t max_bytes, std::chrono::seconds lifetime) : max_bytes_(max_bytes), lifetime_(lifetime) {}

  std::optional<http_server::Response> find(const std::string& key);
  // For responses computed elsewhere; errors are not cached.
  void keep(const std::string& key, const http_server::Response& response);
  // An exception from `compute` reaches every waiting caller, and nothing is cached.
  http_server::Response find_or_compute(const std::string& key, const Compute& compute);

  std::size_t size() const;
  std::size_t bytes() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    http_server::Response response;
    Clock::time_point expires;
    std::list<std::string>::iterator use;
  };

  std::optional<http_server::Response> find_locked(const std::string& key);
  void insert(const std::string& key, const http_server::Response& response);
  void erase(std::map<std::string, Entry>::iterator entry);

  const std::size_t max_bytes_;
  const std::chrono::seconds lifetime_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::list<std::string> by_use_;  // least recently used first
  std::size_t bytes_ = 0;
  std::map<std::string, std::shared_future<http_server::Response>> under_way_;
};

}  // namespace rightsize::app
