// What goes in and out of the server: a request, a response, a stream of events.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"

namespace rightsize::http_server {

struct Request {
  std::string method;  // "GET" (HEAD arrives as GET), "POST", "DELETE"
  std::string path;    // decoded, no ".." in it
  std::vector<std::pair<std::string, std::string>> query;
  std::string body;
  std::string peer;  // the client's address
  // Header fields the server or its routes look at; empty where absent.
  std::string host, origin, fetch_site, authorization, content_type, accept_encoding, if_none_match;
  // Cancelled when nobody waits for the answer any more: the client left, or the time was up.
  Cancellation work = std::make_shared<Work>();
};

struct Response {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::shared_ptr<const std::string> body;  // shared: kept answers are not copied
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const std::string> gzip = {};  // the body compressed, for clients that take it: compress()
};

Response text_response(int status, std::string body, std::string type = "text/plain; charset=utf-8");
// {"error": message}
Response error_response(int status, std::string_view message);

// Server-sent events to one client. Any thread may send; what it sends arrives in order.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Nothing happens once the client has left. A client that does not keep up is let go.
  virtual void send(std::string_view event, std::string_view data) = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
};

}  // namespace rightsize::http_server
