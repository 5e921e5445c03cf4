// Runs the command behind an API request.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "http_server/message.h"
#include "rightsize/page/api_request.h"
#include "rightsize/page/uploads.h"

namespace rightsize::app {

// A temporary folder for documents that clients send, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder() { remove_all(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  // Returns the path of a file `name`, in a new folder inside.
  Result<std::string> write(const std::string& name, const std::string& text);
  void remove(const std::string& file);
  void remove_all();

 private:
  std::string path_;
  std::atomic<std::uint64_t> next_{0};
};

struct CommandContext {
  ScratchFolder& scratch;
  const Uploads* uploads = nullptr;
  std::vector<std::string> extra = {};                           // additional arguments
  std::vector<std::pair<std::string, std::string>> hidden = {};  // local paths, and what clients see instead
};

// Responds with the command's report in the requested format: 200 even if there is no feasible answer (the header
// Rightsize-Exit-Code is then 2), and 400 for mistakes in the request.
http_server::Response run_command(const ApiRequest& request, const CommandContext& context);

// {"error": the first message, "errors": [{message, hints, line, column}], "text": as a terminal shows them}.
http_server::Response describe_errors(const Errors& errors);

}  // namespace rightsize::app
