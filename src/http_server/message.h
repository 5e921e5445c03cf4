// HTTP requests, responses and event streams.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/json.h"

namespace rightsize::http_server {

struct Request {
  std::string method;  // "GET" (also for HEAD), "POST", "DELETE"
  std::string path;    // decoded, without ".."
  std::vector<std::pair<std::string, std::string>> query;
  std::string body;
  std::string peer;  // the client's address
  // The header fields that the server or its routes use; empty if absent.
  std::string host, origin, fetch_site, fetch_mode, fetch_dest, authorization, content_type, accept_encoding,
      if_none_match, priority;
  // Cancelled when the client disconnects or the time limit has passed.
  Cancellation work = std::make_shared<Work>();
};

struct Response {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::shared_ptr<const std::string> body;  // shared, to avoid copies of cached responses
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const std::string> gzip = {};  // the compressed body; see compress()
};

Response text_response(int status, std::string body, std::string type = "text/plain; charset=utf-8");
Response json_response(int status, const Json& document);
// {"error": message}
Response error_response(int status, std::string_view message);

// Whether an Accept-Encoding header allows gzip: by name or by "*", and not with q=0.
bool accepts_gzip(std::string_view accept_encoding);
// Adds the compressed body if the body is longer than a packet and shrinks by at least a fifth.
void compress(Response& response);

// Server-sent events to one client. Any thread may send; events arrive in order.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Has no effect once the client has disconnected. A client that reads too slowly is disconnected.
  virtual void send(std::string_view event, std::string_view data) = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
};

}  // namespace rightsize::http_server
