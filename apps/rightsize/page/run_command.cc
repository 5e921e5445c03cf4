#include "rightsize/page/run_command.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;

struct MediaType {
  const char* type;
  const char* extension;  // of the file that a browser saves; empty: shown inline
};
// By report::Format.
constexpr MediaType kMediaTypes[] = {{"text/plain; charset=utf-8", ""},
                                     {"application/json; charset=utf-8", ""},
                                     {"text/csv; charset=utf-8", "csv"},
                                     {"text/markdown; charset=utf-8", "md"},
                                     {"text/html; charset=utf-8", "html"}};

int status_of(const Error& error) {
  return error.code == ErrorCode::kBadInput ? 400 : error.code == ErrorCode::kUnreadableSource ? 502 : 500;
}

// Writes the documents of a request to files and removes them at the end. Clients see names, not paths.
class DocumentFiles {
 public:
  DocumentFiles(const ApiRequest& request, const CommandContext& context)
      : scratch_(context.scratch), names_(context.hidden) {
    for (const SentDocument& document : request.endpoint->documents) {
      const auto given = request.documents.find(document.name);
      if (given == request.documents.end()) continue;
      Result<std::string> path = path_of(given->second, document.file, context.uploads);
      if (!path) {
        failed = path.error();
        return;
      }
      arguments.push_back(document.flag[0] == '\0' ? *path : fmt::format("{}={}", document.flag, *path));
      names_.emplace_back(*path, document.file);
    }
  }
  ~DocumentFiles() {
    for (const std::string& path : written_) scratch_.remove(path);
  }
  DocumentFiles(const DocumentFiles&) = delete;
  DocumentFiles& operator=(const DocumentFiles&) = delete;

  void hide_paths(std::string& text) const {
    for (const auto& [path, name] : names_) {
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + name.size()))
        text.replace(at, path.size(), name);
    }
  }

  std::vector<std::string> arguments;
  std::optional<Error> failed;

 private:
  Result<std::string> path_of(const std::string& text, const char* name, const Uploads* uploads) {
    constexpr std::string_view kUpload = "upload:";
    if (text.starts_with(kUpload)) {
      const auto path = uploads == nullptr ? std::nullopt : uploads->find(text.substr(kUpload.size()));
      if (!path) return fail(bad_input("the file is no longer on the server; send it again"));
      return *path;
    }
    Result<std::string> path = scratch_.write(name, text);
    if (path) written_.push_back(*path);
    return path;
  }

  ScratchFolder& scratch_;
  std::vector<std::string> written_;
  std::vector<std::pair<std::string, std::string>> names_;  // by path
};

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "rightsize-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

Result<std::string> ScratchFolder::write(const std::string& name, const std::string& text) {
  const fs::path folder = fs::path(path_) / std::to_string(++next_);
  std::error_code failed;
  fs::create_directory(folder, failed);
  if (path_.empty() || failed) return fail(unreadable("the server cannot store the document"));
  std::string path = (folder / name).string();
  if (Result<> written = write_file(path, text); !written) return fail(written.error());
  return path;
}

void ScratchFolder::remove(const std::string& file) {
  std::error_code ignored;
  fs::remove_all(fs::path(file).parent_path(), ignored);
}

void ScratchFolder::remove_all() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

http_server::Response describe_errors(const Errors& errors) {
  Json list = Json::array();
  for (const Error& error : errors) {
    Json one = {{"message", error.message}, {"hints", error.hints}};
    if (error.place.line > 0) one["line"] = error.place.line, one["column"] = error.place.column;
    list.push_back(std::move(one));
  }
  const Json document = {{"error", errors.front().message}, {"errors", std::move(list)}, {"text", describe(errors)}};
  return http_server::json_response(status_of(errors.front()), document);
}

http_server::Response run_command(const ApiRequest& request, const CommandContext& context) {
  DocumentFiles files(request, context);
  if (files.failed) return describe_errors({*files.failed});
  std::vector<std::string> arguments = files.arguments;
  for (const auto& more : {context.extra, request.arguments()})
    arguments.insert(arguments.end(), more.begin(), more.end());
  Checked<Outcome> outcome = call(request.endpoint->name, arguments);
  if (!outcome) {
    for (Error& error : outcome.error()) {
      // An unreadable document is the client's mistake, not a failure of an upstream server.
      if (!request.documents.empty() && error.code == ErrorCode::kUnreadableSource) error.code = ErrorCode::kBadInput;
      files.hide_paths(error.message);
      files.hide_paths(error.place.file);
      for (std::string& hint : error.hints) files.hide_paths(hint);
    }
    return describe_errors(outcome.error());
  }
  std::string text = report::render(outcome->report, request.format);
  files.hide_paths(text);
  text.shrink_to_fit();  // it may stay in the cache
  const MediaType& media = kMediaTypes[static_cast<std::size_t>(request.format)];
  http_server::Response response = http_server::text_response(200, std::move(text), media.type);
  response.headers.emplace_back("Rightsize-Exit-Code", std::to_string(outcome->exit_code));
  if (media.extension[0] != '\0') {
    response.headers.emplace_back("Content-Disposition", fmt::format("attachment; filename=\"rightsize-{}.{}\"",
                                                                     request.endpoint->name, media.extension));
  }
  http_server::compress(response);
  return response;
}

}  // namespace rightsize::app
