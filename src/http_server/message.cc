#include "http_server/message.h"

#include <cstdlib>

#include <zlib.h>

#include "base/text.h"

namespace rightsize::http_server {
namespace {

constexpr std::size_t kOnePacket = 1400;
constexpr std::size_t kMostPerCall = 1U << 30;  // zlib counts in 32 bits
constexpr int kFast = 1;                        // JSON shrinks to a tenth even at the fastest level
constexpr int kGzipFormat = 15 + 16;            // zlib's code for the largest window and a gzip header
constexpr double kWorthIt = 0.8;

std::string gzip(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, kFast, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool complete = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(complete ? stream.total_out : 0);
  out.shrink_to_fit();  // responses are cached
  deflateEnd(&stream);
  return out;
}

}  // namespace

Response text_response(int status, std::string body, std::string type) {
  return {status, std::move(type), std::make_shared<const std::string>(std::move(body)), {}};
}

Response json_response(int status, const Json& document) {
  return text_response(status, document.dump() + "\n", "application/json; charset=utf-8");
}

Response error_response(int status, std::string_view message) { return json_response(status, {{"error", message}}); }

bool accepts_gzip(std::string_view accept_encoding) {
  bool by_star = false;
  for (const std::string_view part : split_list(accept_encoding, ',')) {
    const std::string_view name = trim(part.substr(0, part.find(';')));
    const std::size_t q = part.find("q=");
    const bool wanted =
        q == std::string_view::npos || std::strtod(std::string(part.substr(q + 2)).c_str(), nullptr) > 0;
    if (to_lower(name) == "gzip" || to_lower(name) == "x-gzip") return wanted;
    if (name == "*") by_star = wanted;
  }
  return by_star;
}

void compress(Response& response) {
  if (!response.body || response.body->size() < kOnePacket || response.body->size() > kMostPerCall) return;
  std::string small = gzip(*response.body);
  if (small.empty() || static_cast<double>(small.size()) > kWorthIt * static_cast<double>(response.body->size()))
    return;
  response.gzip = std::make_shared<const std::string>(std::move(small));
}

}  // namespace rightsize::http_server
