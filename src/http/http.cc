#include "http/http.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/text.h"
#include "http/libcurl.h"
#include "http/scrub.h"

namespace rightsize::http {
namespace {

struct Received {
  std::string body;
  double retry_after = 0;
  std::size_t most = 0;
  bool too_long = false;
  int status = 0;
  std::string etag;
  std::string file;         // where the body goes, empty: into `body`
  std::ofstream out;        // open from the first piece on
  std::string range, same;  // headers that request the rest of a file
};

// Writes a piece of a file: appended if the server continues where we stopped, otherwise from the beginning.
bool take_piece(Received& received, const char* data, std::size_t count) {
  if (!received.out.is_open()) {
    received.out.open(received.file, std::ios::binary | (received.status == 206 ? std::ios::app : std::ios::trunc));
    std::ofstream(received.file + ".etag", std::ios::trunc) << received.etag;
  }
  return static_cast<bool>(received.out.write(data, static_cast<std::streamsize>(count)));
}

std::size_t take_body(char* data, std::size_t, std::size_t count, void* user) {
  auto& received = *static_cast<Received*>(user);
  if (!received.file.empty() && (received.status == 200 || received.status == 206))
    return take_piece(received, data, count) ? count : 0;
  if (received.body.size() + count > received.most) {
    received.too_long = true;
    return 0;
  }
  received.body.append(data, count);
  return count;
}

std::size_t take_header(char* data, std::size_t, std::size_t count, void* user) {
  const std::string_view line(data, count);
  auto& received = *static_cast<Received*>(user);
  if (line.starts_with("HTTP/")) {  // also for each redirect
    const std::size_t space = line.find(' ');
    received.status = space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space + 1)).c_str());
    received.etag.clear();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  const std::string name = to_lower(line.substr(0, colon));
  if (name == "retry-after") received.retry_after = retry_after_seconds(trim(line.substr(colon + 1)));
  if (name == "etag") received.etag = trim(line.substr(colon + 1));
  return count;
}

bool means_later(int status) {
  return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

// Ends a cancelled transfer; libcurl calls this about once a second, even while nothing arrives.
int stop_if_cancelled(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return cancelled() ? 1 : 0; }

// Network failures that may not recur; a wrong certificate or URL stays wrong.
bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

// The authorities that this machine trusts: $SSL_CERT_FILE, or the system's file. libcurl only looks in Debian's
// location, but the program may run elsewhere. Empty if none is found; libcurl then decides.
std::string system_certificates() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0') return named;
  // Debian and its derivatives, Red Hat, SUSE, Alpine and others.
  for (const char* file :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return {};
}

std::string encode(const Form& form) {
  std::string text;
  for (const auto& [name, value] : form)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, percent_encoded(value));
  return text;
}

}  // namespace

struct Client::State {
  Auth auth;
  Policy policy;
  Traffic* traffic = nullptr;
  CURL* curl = nullptr;
  std::minstd_rand jitter{std::random_device{}()};

  State(Auth a, Policy p, Traffic* t) : auth(std::move(a)), policy(p), traffic(t) {
    if (libcurl().loaded()) curl = libcurl().easy_init();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (curl != nullptr) libcurl().easy_cleanup(curl);
  }

  void set_auth() {
    auto set = [&](CURLoption option, const std::string& text) {
      if (!text.empty()) libcurl().easy_setopt(curl, option, text.c_str());
    };
    if (!auth.bearer.empty()) {
      libcurl().easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
      set(CURLOPT_XOAUTH2_BEARER, auth.bearer);
    } else if (!auth.user.empty()) {
      libcurl().easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
      set(CURLOPT_USERNAME, auth.user);
      set(CURLOPT_PASSWORD, auth.password);
    }
    set(CURLOPT_SSLCERT, auth.certificate);
    set(CURLOPT_SSLKEY, auth.key);
    set(CURLOPT_CAINFO, auth.authority.empty() ? system_certificates() : auth.authority);
    if (auth.insecure) {
      libcurl().easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
      libcurl().easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
  }

  // One try.
  CURLcode perform(const std::string& url, const std::string* form, Received& received) {
    libcurl().easy_reset(curl);
    set_auth();
    curl_slist* headers = nullptr;
    for (const auto& [name, value] : auth.headers)
      headers = libcurl().slist_append(headers, fmt::format("{}: {}", name, value).c_str());
    for (const std::string& header : {received.range, received.same}) {
      if (!header.empty()) headers = libcurl().slist_append(headers, header.c_str());
    }
    libcurl().easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    libcurl().easy_setopt(curl, CURLOPT_URL, url.c_str());
    libcurl().easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    libcurl().easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    libcurl().easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    libcurl().easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
    libcurl().easy_setopt(curl, CURLOPT_POSTREDIR, static_cast<long>(CURL_REDIR_POST_ALL));
    libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    libcurl().easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    libcurl().easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_if_cancelled);
    // A partial download of a compressed answer cannot be continued.
    if (received.file.empty()) libcurl().easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    libcurl().easy_setopt(curl, CURLOPT_USERAGENT, "rightsize");
    libcurl().easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(in_milliseconds(policy.connect_limit)));
    libcurl().easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(in_milliseconds(policy.limit)));
    libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    libcurl().easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    libcurl().easy_setopt(curl, CURLOPT_HEADERDATA, &received);
    if (form != nullptr) {
      libcurl().easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(form->size()));
      libcurl().easy_setopt(curl, CURLOPT_POSTFIELDS, form->c_str());
    }
    const CURLcode code = libcurl().easy_perform(curl);
    libcurl().slist_free_all(headers);
    if (traffic != nullptr) {
      ++traffic->requests;
      traffic->bytes += received.body.size();
    }
    return code;
  }

  // A little randomness keeps several clients from retrying at the same moment.
  void wait_before(int next_try, double asked) {
    const double grown =
        in_seconds(policy.first_wait) * std::exp2(next_try - 1) * std::uniform_real_distribution(0.75, 1.25)(jitter);
    const double wait = std::min(std::max(grown, asked), in_seconds(policy.longest_wait));
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait);
    while (!cancelled() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(std::chrono::milliseconds(100),
                                                                          end - std::chrono::steady_clock::now()));
    if (traffic != nullptr) ++traffic->retries;
  }

  Error explain(CURLcode code, const std::string& url, int tries) const {
    const std::string times = tries > 1 ? fmt::format(" ({} tries)", tries) : "";
    Error error =
        unreadable(fmt::format("no answer from {}: {}{}", shown_url(url), libcurl().easy_strerror(code), times));
    switch (code) {
      case CURLE_COULDNT_CONNECT:
      case CURLE_COULDNT_RESOLVE_HOST:
        error.hints.emplace_back("check the address, and that this machine can reach it");
        break;
      case CURLE_OPERATION_TIMEDOUT:
        error.hints.emplace_back("if the server is slow, raise --timeout, or request less with --window or --shard");
        break;
      case CURLE_PEER_FAILED_VERIFICATION:
        error.hints.emplace_back("pass the authority that signed the server's certificate with --ca");
        break;
      default:
        break;
    }
    return error;
  }

  // Requests the rest of a file, if the server still has the version the beginning is from.
  static void ask_for_rest(Received& received) {
    std::error_code none;
    const auto size = std::filesystem::file_size(received.file, none);
    std::string etag;
    std::getline(std::ifstream(received.file + ".etag"), etag);
    if (none || size == 0 || etag.empty() || etag.starts_with("W/")) return;
    received.range = fmt::format("Range: bytes={}-", size);
    received.same = "If-Range: " + etag;
  }

  Result<Answer> ask(const std::string& url, const std::string* form, const std::string& file = {}) {
    if (!libcurl().loaded()) return fail(libcurl().loaded().error());
    const auto began = std::chrono::steady_clock::now();
    for (int attempt = 1;; ++attempt) {
      Received received;
      received.most = policy.most_bytes;
      received.file = file;
      if (!file.empty()) ask_for_rest(received);
      const CURLcode code = perform(url, form, received);
      if (received.too_long) {
        return fail(unreadable(fmt::format("the answer of {} exceeds {} MiB", shown_url(url), policy.most_bytes >> 20))
                        .with_hint("request less at once with --shard or a larger --step"));
      }
      long status = 0;
      libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
      const bool again = code != CURLE_OK ? may_pass(code) : means_later(static_cast<int>(status));
      if (cancelled() && (again || code == CURLE_ABORTED_BY_CALLBACK))
        return fail(unreadable(fmt::format("cancelled while waiting for {}", shown_url(url))));
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
      if (again && attempt < policy.tries && taken.count() < 3 * in_seconds(policy.limit)) {
        wait_before(attempt, received.retry_after);
        continue;
      }
      curl_off_t connected = 0;
      libcurl().easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &connected);
      if (code == CURLE_OPERATION_TIMEDOUT && connected > 0) {
        return Answer{408, fmt::format("no answer within {:.3g} s ({} tries)", in_seconds(policy.limit), attempt)};
      }
      if (code == CURLE_WRITE_ERROR) return fail(unreadable(fmt::format("cannot write '{}'", file)));
      if (code != CURLE_OK) return fail(explain(code, url, attempt));
      if (status == 416 && !received.range.empty()) {  // the file is complete or has changed: start again
        std::error_code ignored;
        std::filesystem::remove(file + ".etag", ignored);
        continue;
      }
      constexpr long kFirstError = 400;  // shown to people
      if (status >= kFirstError) received.body = scrubbed(std::move(received.body), auth, url);
      return Answer{static_cast<int>(status), std::move(received.body)};
    }
  }
};

Client::Client(Auth auth, Policy policy, Traffic* traffic)
    : state_(std::make_unique<State>(std::move(auth), policy, traffic)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Answer> Client::get(const std::string& url, const Form& query) {
  const std::string encoded = encode(query);
  return state_->ask(encoded.empty() ? url : url + "?" + encoded, nullptr);
}

Result<Answer> Client::post_form(const std::string& url, const Form& form) { return post(url, encode(form)); }

Result<Answer> Client::post(const std::string& url, const std::string& body) { return state_->ask(url, &body); }

Result<Answer> Client::download(const std::string& url, const std::string& file) {
  RIGHTSIZE_TRY(Answer answer, state_->ask(url, nullptr, file));
  if (answer.status == 206) answer.status = 200;
  return answer;
}

double retry_after_seconds(std::string_view value) {
  double number = 0;
  const auto [stop, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem == std::errc() && stop == value.data() + value.size()) return std::max(number, 0.0);
  if (!libcurl().loaded()) return 0;
  const std::time_t when = libcurl().getdate(std::string(value).c_str(), nullptr);
  if (when < 0) return 0;
  return std::max(0.0, static_cast<double>(when - std::time(nullptr)));
}

}  // namespace rightsize::http
