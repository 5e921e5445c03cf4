// One connection: read a request, check it, respond, read the next.
#include <algorithm>
#include <ctime>
#include <deque>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include "http_server/state.h"
#include "http_server/target.h"
#include "http_server/transport.h"

namespace rightsize::http_server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadSize = 16U << 10;
constexpr std::size_t kMaxUnsentEvents = 256;
constexpr auto kHeartbeat = std::chrono::seconds(15);
constexpr auto kLinger = std::chrono::seconds(2);  // for the client to read the last response and close

// The page loads nothing from other sites and runs only its own scripts. Charts style their own marks.
constexpr std::string_view kSecurityHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), microphone=(), geolocation=(), payment=(), usb=()\r\n";

// Empty if the client simply disconnected.
std::optional<Refusal> refusal_for(const error_code& failed, std::size_t largest_body) {
  if (failed == http::error::body_limit)
    return Refusal{413, fmt::format("the body is larger than {} MiB", largest_body >> 20)};
  if (failed == http::error::header_limit) return Refusal{431, "the header is too large"};
  if (failed == http::error::end_of_stream || failed == http::error::partial_message) return std::nullopt;
  if (failed.category() == make_error_code(http::error::bad_method).category())
    return Refusal{400, "not an HTTP request: " + failed.message()};
  return std::nullopt;
}

// RFC 9218: urgency 0 to 7, 3 unless stated. A search that a client calls less urgent must not delay the others.
Lane lane_of(const Route& route, const Request& request) {
  const std::size_t urgency = request.priority.find("u=");
  const bool can_wait = urgency != std::string::npos && request.priority.substr(urgency + 2, 1) > "3";
  return can_wait && route.lane == Lane::kHeavy ? Lane::kAhead : route.lane;
}

class ClientConnection final : public Connection, public std::enable_shared_from_this<ClientConnection> {
 public:
  ClientConnection(Server::State& state, tcp::socket socket)
      : state_(state), deadline_(state.network), timer_(state.network) {
    error_code failed;
    const tcp::endpoint endpoint = socket.remote_endpoint(failed);
    peer_ = failed ? "-" : endpoint.address().to_string();
    socket.set_option(tcp::no_delay(true), failed);
    transport_ = make_transport(std::move(socket), state.tls ? &*state.tls : nullptr);
  }
  ~ClientConnection() override { close(); }

  void start() override {
    place_ = state_.connections.insert(state_.connections.end(), weak_from_this());
    open_ = true;
    state_.statistics.set_connections(state_.connections.size());
    set_deadline(state_.options.limits.request_time);
    transport_->handshake([self = shared_from_this()](error_code failed, std::size_t) {
      if (failed) return self->close();
      self->start_request();
    });
  }

  void retire() override;
  void close() override;
  bool is_busy() const override { return busy_; }

 private:
  class Events;

  // The connection closes when the deadline passes.
  void set_deadline(std::chrono::milliseconds after) {
    deadline_.expires_after(after);
    deadline_.async_wait([weak = weak_from_this()](error_code cancelled) {
      if (const auto self = cancelled ? nullptr : weak.lock()) self->on_deadline();
    });
  }

  void clear_deadline() { deadline_.expires_at(Clock::time_point::max()); }

  void on_deadline() {
    if (deadline_.expiry() > Clock::now()) return;  // the deadline was moved after the timer had fired
    if (!busy_ && parser_ && (parser_->got_some() || buffer_.size() > 0))
      state_.refuse(peer_, "request", {408, "the request did not arrive in time"}, "unreadable");
    close();
  }

  // The deadline applies to the whole request: slowly arriving bytes do not extend it.
  void start_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->body_limit(state_.options.limits.body);
    parser_->header_limit(static_cast<std::uint32_t>(state_.options.limits.header));
    set_deadline(state_.options.limits.request_time);
    parse();
  }

  void parse() {
    while (buffer_.size() > 0 && !parser_->is_done()) {
      error_code failed;
      buffer_.consume(parser_->put(buffer_.data(), failed));
      if (failed == http::error::need_more) break;
      if (failed) return on_bad_request(failed);
    }
    if (parser_->is_done()) return on_request();
    transport_->read_some(buffer_.prepare(kReadSize),
                          [self = shared_from_this()](error_code failed, std::size_t bytes) {
                            if (!self->open_) return;
                            if (failed) return self->close();
                            self->buffer_.commit(bytes);
                            self->parse();
                          });
  }

  void on_bad_request(const error_code& failed) {
    const auto refused = refusal_for(failed, state_.options.limits.body);
    if (!refused) return close();
    state_.refuse(peer_, parser_->is_header_done() ? std::string(parser_->get().target()) : "request", *refused,
                  "unreadable");
    busy_ = true, last_ = true;
    write(error_response(refused->status, refused->reason));
  }

  void on_request() {
    started_ = Clock::now();
    clear_deadline();
    busy_ = true;
    take_request();
    try {
      if (const auto refused = check()) return refuse(*refused, "rules");
      dispatch();
    } catch (const std::exception& unexpected) {
      respond(error_response(500, fmt::format("internal error: {}", unexpected.what())));
    }
  }

  void take_request() {
    auto message = parser_->release();
    const auto field = [&](auto name) { return std::string(message[name]); };
    head_only_ = message.method() == http::verb::head;
    last_ = last_ || !message.keep_alive();
    target_ = std::string(message.target());
    request_ = Request{};
    request_.method = head_only_ ? "GET" : std::string(message.method_string());
    request_.host = field(http::field::host);
    request_.origin = field(http::field::origin);
    request_.authorization = field(http::field::authorization);
    request_.content_type = field(http::field::content_type);
    request_.accept_encoding = field(http::field::accept_encoding);
    request_.if_none_match = field(http::field::if_none_match);
    request_.priority = field("Priority");
    request_.fetch_site = field("Sec-Fetch-Site");
    request_.fetch_mode = field("Sec-Fetch-Mode");
    request_.fetch_dest = field("Sec-Fetch-Dest");
    request_.peer = peer_;
    request_.body = std::move(message.body());
  }

  std::optional<Refusal> check() {
    route_ = nullptr;
    Result<RequestTarget> target = parse_target(target_);
    if (!target) return Refusal{400, target.error().message};
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    bool path_known = false;
    const Route* route = state_.find(request_.method, request_.path, path_known);
    if (auto refused = check_origin(state_.access, request_, route == nullptr || route->open)) return refused;
    if (route == nullptr) return path_known ? Refusal{405, "method not allowed"} : Refusal{404, "not found"};
    route_ = route;
    if (route_->open) return std::nullopt;
    if (state_.guesses.must_wait(peer_)) return Refusal{429, "too many wrong tokens; try again in a minute"};
    auto refused = check_token(state_.access, request_);
    if (refused && !request_.authorization.empty()) state_.guesses.count(peer_);
    return refused;
  }

  void refuse(const Refusal& refused, std::string_view kind) {
    state_.refuse(peer_, request_.method + " " + target_, refused, kind);
    Response response = error_response(refused.status, refused.reason);
    if (refused.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (refused.status == 429) response.headers.emplace_back("Retry-After", "60");
    if (refused.status == 503) response.headers.emplace_back("Retry-After", "1");
    respond(std::move(response));
  }

  void dispatch() {
    if (route_->immediate) {
      if (std::optional<Response> response = route_->immediate(request_)) return respond(*std::move(response));
    }
    if (route_->work) return work();
    if (route_->stream) return open_stream();
    refuse({404, "not found"}, "rules");
  }

  void work() {
    const std::uint64_t turn = ++turn_;
    auto self = shared_from_this();
    const bool queued =
        state_.pools[static_cast<std::size_t>(lane_of(*route_, request_))]->submit([self, turn, request = request_, route = route_] {
          if (request.work->is_cancelled()) return;
          if (route->compute_time) {
            const auto latest = std::chrono::steady_clock::now() + self->state_.options.limits.work_time;
            asio::post(self->state_.network, [self, turn, limit = *route->compute_time, latest, begun = std::clock()] {
              self->limit_computation(turn, limit, limit, begun, latest);
            });
          }
          Response response;
          try {
            response = route->work(request);
          } catch (const std::exception& unexpected) {
            response = error_response(500, fmt::format("internal error: {}", unexpected.what()));
          }
          asio::post(self->state_.network, [self, turn, response = std::move(response)]() mutable {
            if (self->turn_ == turn && self->open_) self->respond(std::move(response));
          });
        });
    if (!queued) return refuse({503, "too many requests are queued"}, "busy");
    timer_.expires_after(state_.options.limits.work_time);
    timer_.async_wait([self, turn](error_code cancelled) {
      if (!cancelled) self->end_work(turn, 504);
    });
    watch_for_disconnect(turn);
  }

  void end_work(std::uint64_t turn, int status) {
    if (turn_ != turn || !open_) return;
    request_.work->cancel();
    refuse({status, state_.options.timeout_message}, "timeout");
  }

  // The limit is on processor time of all threads: other work on the machine must not count against the request.
  void limit_computation(std::uint64_t turn, std::chrono::milliseconds limit, std::chrono::milliseconds wait,
                         std::clock_t begun, std::chrono::steady_clock::time_point latest) {
    if (turn_ != turn || !open_) return;  // it has already ended
    timer_.expires_after(wait);
    timer_.async_wait([self = shared_from_this(), turn, limit, begun, latest](error_code cancelled) {
      if (cancelled) return;
      const std::chrono::milliseconds used(1000 * (std::clock() - begun) / CLOCKS_PER_SEC);
      if (used >= limit) return self->end_work(turn, 422);
      if (std::chrono::steady_clock::now() >= latest) return self->end_work(turn, 504);
      self->limit_computation(turn, limit, std::max(limit - used, limit / 10), begun, latest);
    });
  }

  void watch_for_disconnect(std::uint64_t turn) {
    transport_->socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), turn](error_code failed) {
      if (failed || self->turn_ != turn || !self->open_) return;
      char byte = 0;
      if (::recv(self->transport_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) self->close();
    });
  }

  void respond(Response response) {
    ++turn_;
    timer_.cancel();
    state_.statistics.count_request(route_ == nullptr ? "none" : route_->path, response.status,
                                    Clock::now() - started_);
    write(std::move(response));
  }

  std::string head_of(const Response& response, bool gzip, bool keep_alive) const {
    const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response.status)));
    std::string head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}", response.status,
                                   std::string_view(reason.data(), reason.size()), response.type, kSecurityHeaders);
    if (transport_->is_tls()) head += "Strict-Transport-Security: max-age=31536000\r\n";
    bool cached = false;
    for (const auto& [name, value] : response.headers) {
      head += fmt::format("{}: {}\r\n", name, value);
      cached = cached || name == "Cache-Control";
    }
    if (!cached) head += "Cache-Control: no-store\r\n";
    if (response.gzip) head += "Vary: Accept-Encoding\r\n";  // caches must keep the two variants apart
    if (gzip) head += "Content-Encoding: gzip\r\n";
    return head + (keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n");
  }

  void write(Response response) {
    const bool gzip = response.gzip && accepts_gzip(request_.accept_encoding);
    body_ = gzip ? std::move(response.gzip) : std::move(response.body);
    if (gzip) response.gzip = body_;
    const std::size_t size = body_ ? body_->size() : 0;
    head_ = head_of(response, gzip, !last_ && !state_.stopping);
    if (response.status != 304) head_ += fmt::format("Content-Length: {}\r\n", size);
    head_ += "\r\n";
    const bool with_body = size > 0 && !head_only_;
    set_deadline(state_.options.limits.write_time);
    transport_->write({asio::buffer(head_), with_body ? asio::buffer(*body_) : asio::const_buffer()},
                      [self = shared_from_this()](error_code failed, std::size_t) { self->on_written(failed); });
  }

  void on_written(error_code failed) {
    body_.reset();
    if (!open_) return;
    if (failed || last_ || state_.stopping) return finish();
    busy_ = false;
    state_.connections.splice(state_.connections.end(), state_.connections, place_);
    start_request();
  }

  // Closing while the client still sends would discard the response it has not read yet.
  void finish() {
    if (std::exchange(finishing_, true)) return;
    timer_.cancel();
    set_deadline(kLinger);
    transport_->finish([self = shared_from_this()](error_code failed, std::size_t) {
      failed || self->transport_->is_tls() ? self->close() : self->drain();
    });
  }

  void drain() {
    if (!open_) return;
    buffer_.clear();
    transport_->read_some(buffer_.prepare(kReadSize), [self = shared_from_this()](error_code failed, std::size_t) {
      failed ? self->close() : self->drain();
    });
  }

  void open_stream();

  void send_heartbeat() {
    timer_.expires_after(kHeartbeat);
    timer_.async_wait([self = shared_from_this()](error_code cancelled) {
      if (cancelled || !self->open_ || self->finishing_) return;
      self->send_event(": heartbeat\n\n");
      self->send_heartbeat();
    });
  }

  void send_event(std::string text) {
    if (unsent_.size() >= kMaxUnsentEvents) {
      state_.refuse(peer_, target_, {503, "the client reads events too slowly"}, "slow reader");
      return close();
    }
    unsent_.push_back(std::move(text));
    if (unsent_.size() == 1) write_next_event();
  }

  void write_next_event();

  Server::State& state_;
  std::unique_ptr<Transport> transport_;
  asio::steady_timer deadline_;  // of a read or a write
  asio::steady_timer timer_;     // of work, and between heartbeats
  std::string peer_, target_, head_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<const std::string> body_;
  Request request_;
  const Route* route_ = nullptr;
  std::shared_ptr<Events> events_;
  std::deque<std::string> unsent_;
  ConnectionList::iterator place_;
  Clock::time_point started_;
  std::uint64_t turn_ = 0;  // a response to an earlier turn is too late
  bool open_ = false, busy_ = false, last_ = false, head_only_ = false, finishing_ = false;
};

// The sending half, which routes may hold. It outlives the connection and then has no effect.
class ClientConnection::Events final : public EventStream {
 public:
  explicit Events(const std::shared_ptr<ClientConnection>& connection)
      : connection_(connection), network_(connection->state_.network) {}

  void send(std::string_view event, std::string_view data) override {
    std::string text = fmt::format("event: {}\n", event);
    while (!data.empty()) {
      const std::string_view line = data.substr(0, data.find('\n'));
      text += fmt::format("data: {}\n", line);
      data.remove_prefix(std::min(data.size(), line.size() + 1));
    }
    text += '\n';
    if (!open) return;
    post([text = std::move(text)](ClientConnection& connection) mutable { connection.send_event(std::move(text)); });
  }

  void close() override {
    if (!open.exchange(false)) return;
    post([](ClientConnection& connection) {
      if (connection.unsent_.empty()) connection.finish();
    });
  }

  bool is_open() const override { return open; }

  std::atomic<bool> open{true};

 private:
  template <class Action>
  void post(Action action) {
    if (const auto connection = connection_.lock()) {
      asio::post(network_, [connection, action = std::move(action)]() mutable {
        if (connection->open_) action(*connection);
      });
    }
  }

  std::weak_ptr<ClientConnection> connection_;
  asio::io_context& network_;
};

void ClientConnection::retire() {
  last_ = true;
  if (events_) events_->close();
  if (!busy_) close();
}

void ClientConnection::close() {
  if (!open_) return;
  open_ = false;
  request_.work->cancel();
  if (events_) {
    events_->open = false;
    --state_.streams;
  }
  deadline_.cancel();
  timer_.cancel();
  error_code ignored;
  transport_->socket().shutdown(tcp::socket::shutdown_both, ignored);
  transport_->socket().close(ignored);
  state_.connections.erase(place_);
  state_.statistics.set_connections(state_.connections.size());
}

void ClientConnection::open_stream() {
  if (state_.streams >= state_.options.limits.streams) return refuse({503, "too many live streams"}, "busy");
  ++turn_;
  ++state_.streams;
  last_ = true;
  events_ = std::make_shared<Events>(shared_from_this());
  state_.statistics.count_request(route_->path, 200, Clock::now() - started_);
  head_ = head_of({200, "text/event-stream", nullptr, {{"X-Accel-Buffering", "no"}}}, false, false) + "\r\n";
  set_deadline(state_.options.limits.write_time);
  transport_->write({asio::buffer(head_), {}}, [self = shared_from_this()](error_code failed, std::size_t) {
    if (failed || !self->open_) return self->close();
    self->clear_deadline();
    self->watch_for_disconnect(self->turn_);
    self->send_heartbeat();
    self->route_->stream(self->request_, self->events_);
  });
}

void ClientConnection::write_next_event() {
  set_deadline(state_.options.limits.write_time);
  transport_->write({asio::buffer(unsent_.front()), {}}, [self = shared_from_this()](error_code failed, std::size_t) {
    if (failed || !self->open_) return self->close();
    self->clear_deadline();
    self->unsent_.pop_front();
    if (!self->unsent_.empty()) return self->write_next_event();
    if (!self->events_->is_open()) self->finish();
  });
}

}  // namespace

std::shared_ptr<Connection> make_connection(Server::State& state, tcp::socket socket) {
  return std::make_shared<ClientConnection>(state, std::move(socket));
}

}  // namespace rightsize::http_server
