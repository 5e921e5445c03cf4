// Answers to what was asked: made by the command itself, and kept for a while.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http_server/exchange.h"
#include "rightsize/page/asked.h"

namespace rightsize::app {

// A folder of this run's own, removed at the end: documents of requests lie there while they are read.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return folder_; }
  // The path of a file called `name` in a folder of its own.
  Result<std::string> write(const std::string& name, const std::string& text);
  void remove(const std::string& path);

 private:
  std::string folder_;
  std::atomic<std::uint64_t> next_{0};
};

// Runs the command. `always` are words it is given whatever was asked. 200 with the command's own report in the format
// asked for, also where no answer is feasible (then the header Rightsize-Exit-Code is 2); 400 for what was asked
// wrongly.
http_server::Response answer(const Asked& asked, const std::vector<std::string>& always, Scratch& scratch);

// Mistakes as JSON: {"error": the first, "errors": [{message, hints, line, column}], "text": as a terminal shows them}.
http_server::Response describe_errors(const Errors& errors);

// Answers by what was asked: the newest, up to a number of bytes, each for a limited time. Two that ask the same at
// once wait for one answer.
class AnswerStore {
 public:
  AnswerStore(std::size_t most_bytes, std::chrono::seconds lifetime) : most_bytes_(most_bytes), lifetime_(lifetime) {}

  std::optional<http_server::Response> find(const std::string& key);
  http_server::Response find_or_make(const std::string& key, const std::function<http_server::Response()>& make);

  std::size_t size() const;
  std::size_t bytes() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    http_server::Response response;
    Clock::time_point until;
    std::list<std::string>::iterator place;
  };

  std::optional<http_server::Response> find_locked(const std::string& key);
  void keep(const std::string& key, const http_server::Response& response);
  void forget(std::map<std::string, Kept>::iterator entry);

  const std::size_t most_bytes_;
  const std::chrono::seconds lifetime_;
  mutable std::mutex mutex_;
  std::map<std::string, Kept> kept_;
  std::list<std::string> by_use_;  // the one used longest ago first
  std::size_t bytes_ = 0;
  std::map<std::string, std::shared_future<http_server::Response>> being_made_;
};

}  // namespace rightsize::app
