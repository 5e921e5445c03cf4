#include "rightsize/page/response_cache.h"

#include "base/cancel.h"

namespace rightsize::app {
namespace {

std::size_t size_of(const std::string& key, const http_server::Response& response) {
  return key.size() + response.body->size() + (response.gzip ? response.gzip->size() : 0);
}

}  // namespace

std::optional<http_server::Response> ResponseCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return find_locked(key);
}

std::optional<http_server::Response> ResponseCache::find_locked(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  if (found->second.expires < Clock::now()) {
    erase(found);
    return std::nullopt;
  }
  by_use_.splice(by_use_.end(), by_use_, found->second.use);
  return found->second.response;
}

http_server::Response ResponseCache::find_or_compute(const std::string& key, const Compute& compute) {
  std::promise<http_server::Response> promise;
  {
    std::unique_lock lock(mutex_);
    if (auto found = find_locked(key)) return *found;
    if (const auto other = under_way_.find(key); other != under_way_.end()) {
      const std::shared_future<http_server::Response> result = other->second;
      lock.unlock();
      http_server::Response response = result.get();
      return response.status == 499 ? compute() : response;  // the other request was cancelled, ours was not
    }
    under_way_.emplace(key, promise.get_future().share());
  }
  try {
    http_server::Response response = compute();
    // Cancelled work ends early with a partial answer.
    if (cancelled()) response = http_server::error_response(499, "cancelled");
    const std::lock_guard lock(mutex_);
    under_way_.erase(key);
    if (response.status == 200) insert(key, response);
    promise.set_value(response);
    return response;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    under_way_.erase(key);
    promise.set_exception(std::current_exception());
    throw;
  }
}

void ResponseCache::keep(const std::string& key, const http_server::Response& response) {
  const std::lock_guard lock(mutex_);
  if (response.status == 200) insert(key, response);
}

void ResponseCache::insert(const std::string& key, const http_server::Response& response) {
  const std::size_t size = size_of(key, response);
  if (size > max_bytes_ / 4) return;
  if (const auto old = entries_.find(key); old != entries_.end()) erase(old);
  const auto expired = [&] { return !by_use_.empty() && entries_.at(by_use_.front()).expires < Clock::now(); };
  while (expired()) erase(entries_.find(by_use_.front()));
  by_use_.push_back(key);
  entries_[key] = {response, Clock::now() + lifetime_, std::prev(by_use_.end())};
  bytes_ += size;
  while (bytes_ > max_bytes_) erase(entries_.find(by_use_.front()));
}

void ResponseCache::erase(std::map<std::string, Entry>::iterator entry) {
  bytes_ -= size_of(entry->first, entry->second.response);
  by_use_.erase(entry->second.use);
  entries_.erase(entry);
}

std::size_t ResponseCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::size_t ResponseCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace rightsize::app
