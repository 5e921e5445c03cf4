#include "rightsize/page/uploads.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "base/parse_units.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;

std::string value_of(const http_server::Request& request, std::string_view name) {
  for (const auto& [key, value] : request.query) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

http_server::Response Uploads::append(const http_server::Request& request) {
  if (request.content_type != "application/octet-stream")
    return http_server::error_response(415, "Content-Type: application/octet-stream expected");
  const std::lock_guard lock(mutex_);
  std::string id = value_of(request, "id");
  if (id.empty()) {
    std::random_device random;  // other clients cannot guess the id
    id = fmt::format("{:08x}{:08x}", random(), random());
    files_[id] = {(fs::path(folder_) / ("upload-" + id)).string(), 0, ++count_};
  } else if (!files_.contains(id)) {
    return http_server::error_response(404, "no such upload, or it has expired");
  }
  File& file = files_[id];
  // A part that was sent twice must not be appended twice.
  const std::string at = value_of(request, "at");
  const Result<std::int64_t> from = parse_integer(at.empty() ? "0" : at);
  if (!from || static_cast<std::uint64_t>(*from) != file.bytes)
    return http_server::error_response(409, fmt::format("the upload has {} bytes", file.bytes));
  if (file.bytes + request.body.size() > most_bytes_)
    return http_server::error_response(413, fmt::format("an upload is at most {} MiB", most_bytes_ >> 20));
  make_room(id, request.body.size());
  std::ofstream out(file.path, std::ios::binary | std::ios::app);
  out << request.body << std::flush;
  if (!out) return http_server::error_response(507, "the server cannot store the upload");
  file.bytes += request.body.size();
  return http_server::json_response(200, {{"id", id}, {"bytes", file.bytes}});
}

void Uploads::make_room(const std::string& for_id, std::uint64_t bytes) {
  const auto total = [&] {
    std::uint64_t sum = bytes;
    for (const auto& [id, file] : files_) sum += file.bytes;
    return sum;
  };
  while (files_.size() > 1 && total() > most_bytes_) {
    auto oldest = files_.end();
    for (auto each = files_.begin(); each != files_.end(); ++each) {
      if (each->first != for_id && (oldest == files_.end() || each->second.begun < oldest->second.begun)) oldest = each;
    }
    std::error_code ignored;
    fs::remove(oldest->second.path, ignored);
    files_.erase(oldest);
  }
}

std::optional<std::string> Uploads::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  return found == files_.end() ? std::nullopt : std::optional(found->second.path);
}

}  // namespace rightsize::app
