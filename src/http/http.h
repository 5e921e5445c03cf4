// An HTTP client with time limits, retries with growing waits, the server's Retry-After, and credentials that are never
// printed.
//
//   http::Client client(auth, policy, nullptr);
//   auto answer = client.post_form("http://prometheus:9090/api/v1/query", {{"query", "up"}});
//
// A client keeps one connection open; give each thread its own. The caller handles status codes, except those that mean
// "later" (429, 500, 502, 503, 504): these requests are retried. A server that accepts the connection but does not
// answer in time counts as 408: a smaller request may succeed. Every request ends soon after its work was cancelled
// (base/cancel.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "base/url.h"

namespace rightsize::http {

// Credentials. Never shown, never in an error.
struct Auth {
  std::string bearer;
  std::string user, password;
  std::string certificate, key, authority;                   // files: client certificate and its key, the CA to trust
  bool insecure = false;                                     // do not check the server's certificate
  std::vector<std::pair<std::string, std::string>> headers;  // X-Scope-OrgID and similar
};

struct Policy {
  Seconds connect_limit = seconds(10);
  Seconds limit = seconds(120);  // of one try, answer included; no new try starts after three times this
  int tries = 5;
  Seconds first_wait = milliseconds(250);  // doubles with each try, at most `longest_wait`
  Seconds longest_wait = seconds(30);      // a longer Retry-After is cut to this
  std::size_t most_bytes = 512U << 20;     // of one answer; a longer one is refused
};

struct Answer {
  int status = 0;
  std::string body;
};

using Form = std::vector<std::pair<std::string, std::string>>;

// Counters of all clients that share it.
struct Traffic {
  std::atomic<std::size_t> requests{0}, retries{0}, bytes{0};
};

class Client {
 public:
  // `traffic` may be null; otherwise it must outlive the client.
  Client(Auth auth, Policy policy, Traffic* traffic);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // kUnreadableSource when no answer came, or libcurl is missing; the message names the server without credentials.
  Result<Answer> get(const std::string& url, const Form& query);
  Result<Answer> post_form(const std::string& url, const Form& form);
  // Any body; its Content-Type is one of Auth::headers.
  Result<Answer> post(const std::string& url, const std::string& body);
  // Streams the body into a file. Continues a partial file if the server still has the same version (its ETag is kept
  // in FILE.etag), and keeps a partial file for the next call. The answer's body is empty unless the status is an
  // error.
  Result<Answer> download(const std::string& url, const std::string& file);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

using rightsize::shown_url;

// The seconds of a Retry-After header: a number, or the time until an HTTP date; 0 if it is neither.
double retry_after_seconds(std::string_view value);

}  // namespace rightsize::http
