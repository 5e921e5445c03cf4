// Large files that clients send in parts, before the request that uses them: neither side holds a whole file in memory,
// and the page can show progress.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "http_server/message.h"

namespace rightsize::app {

// POST /api/uploads?id=ID&at=BYTES appends the body to a file and returns {"id", "bytes"}; without an id it begins one.
// A request for a command names the file as "upload:ID". When the files exceed `most_bytes`, the oldest are removed.
class Uploads {
 public:
  // The folder must exist and outlive this object; its owner removes the files at the end.
  Uploads(std::string folder, std::uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  http_server::Response append(const http_server::Request& request);
  // The path of an uploaded file; empty if the file is unknown or was removed.
  std::optional<std::string> find(const std::string& id) const;

 private:
  struct File {
    std::string path;
    std::uint64_t bytes = 0, begun = 0;
  };
  void make_room(const std::string& for_id, std::uint64_t bytes);

  const std::string folder_;
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::map<std::string, File> files_;
};

}  // namespace rightsize::app
