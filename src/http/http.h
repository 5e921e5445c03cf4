// Asking an HTTP server, patiently: time limits, retries with growing waits, the server's own Retry-After, credentials
// from flags, environment or files that are never printed.
//
//   http::Client client(auth, policy);
//   auto answer = client.post_form("http://prometheus:9090/api/v1/query", {{"query", "up"}});
//
// A client is one connection kept open; give each thread its own. Status codes are the caller's to judge, except those
// that mean "later" (429, 500, 502, 503, 504), which are asked again up to Policy::tries times. A server that is
// connected but does not answer in time counts as 408: a smaller question may be answered.
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

namespace rightsize::http {

// What proves who we are. Never shown, never in an error.
struct Auth {
  std::string bearer;
  std::string user, password;
  std::string certificate, key, authority;                   // files: client certificate and its key, the CA to trust
  bool insecure = false;                                     // do not check the server's certificate
  std::vector<std::pair<std::string, std::string>> headers;  // X-Scope-OrgID and the like
};

struct Policy {
  Seconds connect_limit = seconds(10);
  Seconds limit = seconds(120);  // of one request, answer included
  int tries = 5;
  Seconds first_wait = milliseconds(250);  // doubles with each try, at most `longest_wait`
  Seconds longest_wait = seconds(30);      // a longer Retry-After is cut to this
  std::size_t most_bytes = 512U << 20;     // of one answer; more is refused
};

struct Answer {
  int status = 0;
  std::string body;
};

using Form = std::vector<std::pair<std::string, std::string>>;

// What was done so far, over all clients that share it.
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

  // kUnreadableSource when no answer came after all tries; the message names the server without credentials.
  Result<Answer> get(const std::string& url, const Form& query);
  Result<Answer> post_form(const std::string& url, const Form& form);
  // Any body; its Content-Type is one of the headers of Auth.
  Result<Answer> post(const std::string& url, const std::string& body);
  // The body into a file, in pieces; what is in the file already is not fetched again where the server still has the
  // same (its ETag is kept in FILE.etag). A file that is cut off stays for the next time. The answer's body is empty
  // unless the status says that something went wrong.
  Result<Answer> download(const std::string& url, const std::string& file);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A URL without user name, password and query: fit to be shown.
std::string shown_url(std::string_view url);

// The seconds of a Retry-After header: a number, or the time until an HTTP date; 0 when it is neither.
double retry_after_seconds(std::string_view value);

}  // namespace rightsize::http
