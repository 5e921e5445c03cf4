#include "rightsize/page/answers.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/file.h"
#include "http_server/compress.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;

const char* type_of(report::Format format) {
  switch (format) {
    case report::Format::kJson:
      return "application/json; charset=utf-8";
    case report::Format::kCsv:
      return "text/csv; charset=utf-8";
    case report::Format::kMarkdown:
      return "text/markdown; charset=utf-8";
    case report::Format::kHtml:
      return "text/html; charset=utf-8";
    case report::Format::kText:
      break;
  }
  return "text/plain; charset=utf-8";
}

const char* extension_of(report::Format format) {
  return format == report::Format::kCsv ? "csv" : format == report::Format::kMarkdown ? "md" : "html";
}

// Files of documents, removed when the answer is there.
class Placed {
 public:
  Placed(const Asked& asked, Scratch& scratch) : scratch_(scratch) {
    for (const Document& document : asked.endpoint->documents) {
      const auto given = asked.documents.find(document.name);
      if (given == asked.documents.end()) continue;
      Result<std::string> path = scratch.write(document.file, given->second);
      if (!path) {
        failed_ = path.error();
        return;
      }
      words_.push_back(document.flag[0] == '\0' ? *path : fmt::format("{}={}", document.flag, *path));
      names_.emplace_back(*path, document.file);
    }
  }
  ~Placed() {
    for (const auto& [path, name] : names_) scratch_.remove(path);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  const std::vector<std::string>& words() const { return words_; }
  const std::optional<Error>& failed() const { return failed_; }

  // The client knows its document by name, not by where we put it.
  void hide_paths(std::string& text) const {
    for (const auto& [path, name] : names_) {
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + name.size()))
        text.replace(at, path.size(), name);
    }
  }

 private:
  Scratch& scratch_;
  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::optional<Error> failed_;
};

std::size_t size_of(const std::string& key, const http_server::Response& response) {
  return key.size() + response.body->size() + (response.gzip ? response.gzip->size() : 0);
}

int status_of(const Errors& errors) {
  switch (errors.front().code) {
    case ErrorCode::kBadInput:
      return 400;
    case ErrorCode::kUnreadableSource:
      return 502;
    case ErrorCode::kBug:
      break;
  }
  return 500;
}

}  // namespace

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "rightsize-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<std::string> Scratch::write(const std::string& name, const std::string& text) {
  const fs::path folder = fs::path(folder_) / std::to_string(++next_);
  std::error_code failed;
  fs::create_directory(folder, failed);
  if (folder_.empty() || failed) return fail(unreadable("the server has no room for the document"));
  std::string path = (folder / name).string();
  if (Result<> written = write_file(path, text); !written) return fail(written.error());
  return path;
}

void Scratch::remove(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(fs::path(path).parent_path(), ignored);
}

http_server::Response describe_errors(const Errors& errors) {
  Json list = Json::array();
  for (const Error& error : errors) {
    Json one = {{"message", error.message}, {"hints", error.hints}};
    if (error.place.line > 0) one["line"] = error.place.line, one["column"] = error.place.column;
    list.push_back(std::move(one));
  }
  const Json document = {{"error", errors.front().message}, {"errors", std::move(list)}, {"text", describe(errors)}};
  return http_server::text_response(status_of(errors), document.dump() + "\n", type_of(report::Format::kJson));
}

http_server::Response answer(const Asked& asked, const std::vector<std::string>& always, Scratch& scratch) {
  const Placed placed(asked, scratch);
  if (placed.failed()) return describe_errors({*placed.failed()});
  std::vector<std::string> words = placed.words();
  for (const auto& more : {always, asked.words()}) words.insert(words.end(), more.begin(), more.end());
  Checked<Outcome> outcome = call(asked.endpoint->name, words);
  if (!outcome) {
    for (Error& error : outcome.error()) {
      placed.hide_paths(error.message);
      placed.hide_paths(error.place.file);
      for (std::string& hint : error.hints) placed.hide_paths(hint);
    }
    return describe_errors(outcome.error());
  }
  std::string text = report::render(outcome->report, asked.format);
  placed.hide_paths(text);
  text.shrink_to_fit();  // it may be kept for long
  http_server::Response response = http_server::text_response(200, std::move(text), type_of(asked.format));
  response.headers.emplace_back("Rightsize-Exit-Code", std::to_string(outcome->exit_code));
  // A report is a file to keep, not a page of ours.
  if (asked.format != report::Format::kJson && asked.format != report::Format::kText) {
    response.headers.emplace_back("Content-Disposition", fmt::format("attachment; filename=\"rightsize-{}.{}\"",
                                                                     asked.endpoint->name, extension_of(asked.format)));
  }
  http_server::compress(response);
  return response;
}

std::optional<http_server::Response> AnswerStore::find_locked(const std::string& key) {
  const auto entry = kept_.find(key);
  if (entry == kept_.end()) return std::nullopt;
  if (entry->second.until < Clock::now()) {
    forget(entry);
    return std::nullopt;
  }
  by_use_.splice(by_use_.end(), by_use_, entry->second.place);
  return entry->second.response;
}

std::optional<http_server::Response> AnswerStore::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return find_locked(key);
}

http_server::Response AnswerStore::find_or_make(const std::string& key,
                                                const std::function<http_server::Response()>& make) {
  std::promise<http_server::Response> promise;
  {
    std::unique_lock lock(mutex_);
    if (auto found = find_locked(key)) return *found;
    const auto other = being_made_.find(key);
    if (other != being_made_.end()) {
      const std::shared_future<http_server::Response> theirs = other->second;
      lock.unlock();
      http_server::Response response = theirs.get();
      if (response.status != 499) return response;
      return make();  // theirs was cancelled, ours is not
    }
    being_made_.emplace(key, promise.get_future().share());
  }
  http_server::Response response = make();
  // What nobody waits for any more was ended early and is worth nothing.
  if (cancelled()) response = http_server::error_response(499, "cancelled");
  const std::lock_guard lock(mutex_);
  being_made_.erase(key);
  if (response.status == 200 || response.status == 400) keep(key, response);
  promise.set_value(response);
  return response;
}

void AnswerStore::keep(const std::string& key, const http_server::Response& response) {
  const std::size_t size = size_of(key, response);
  if (size > most_bytes_ / 4) return;
  if (const auto old = kept_.find(key); old != kept_.end()) forget(old);
  // What nobody has asked for during a lifetime is too old whenever it was made.
  const auto too_old = [&] { return !by_use_.empty() && kept_.at(by_use_.front()).until < Clock::now(); };
  while (too_old()) forget(kept_.find(by_use_.front()));
  by_use_.push_back(key);
  kept_[key] = {response, Clock::now() + lifetime_, std::prev(by_use_.end())};
  bytes_ += size;
  while (bytes_ > most_bytes_) forget(kept_.find(by_use_.front()));
}

void AnswerStore::forget(std::map<std::string, Kept>::iterator entry) {
  bytes_ -= size_of(entry->first, entry->second.response);
  by_use_.erase(entry->second.place);
  kept_.erase(entry);
}

std::size_t AnswerStore::size() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

std::size_t AnswerStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace rightsize::app
