// One connection: read a request, pass it by the rules, answer it, read the next.
#include <array>
#include <deque>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>

#include "http_server/compress.h"
#include "http_server/state.h"
#include "http_server/target.h"

namespace rightsize::http_server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostUnsent = 256;  // events a client may fall behind
constexpr auto kHeartbeat = std::chrono::seconds(15);
constexpr auto kFarewell = std::chrono::seconds(2);  // for a client to notice that we have ended

using Body = http::span_body<const char>;
using OutResponse = http::response<Body>;

std::string peer_of(const tcp::socket& socket) {
  error_code failed;
  const tcp::endpoint endpoint = socket.remote_endpoint(failed);
  return failed ? "-" : endpoint.address().to_string();
}

// Why reading a request failed, where that is the client's doing.
std::optional<Refusal> refusal_for(const error_code& failed) {
  if (failed == beast::error::timeout) return Refusal{408, "the request did not arrive in time"};
  if (failed == http::error::body_limit) return Refusal{413, "the body is too large"};
  if (failed == http::error::header_limit) return Refusal{431, "the header is too large"};
  if (failed == http::error::end_of_stream || failed == http::error::partial_message) return std::nullopt;
  if (failed.category() == make_error_code(http::error::bad_method).category())
    return Refusal{400, "not an HTTP request: " + failed.message()};
  return std::nullopt;  // the client left
}

template <class Stream>
class Client final : public Connection, public std::enable_shared_from_this<Client<Stream>> {
 public:
  template <class... Arguments>
  Client(Server::State& state, Arguments&&... arguments)
      : state_(state),
        stream_(std::forward<Arguments>(arguments)...),
        timer_(state.network),
        peer_(peer_of(socket())) {}
  ~Client() override {
    if (seated_) leave();
  }

  void start() override {
    seat_ = state_.seats.sit(this->shared_from_this());
    seated_ = true;
    state_.statistics.set_connections(state_.seats.size());
    if constexpr (kTls) {
      lowest().expires_after(state_.options.limits.request_time);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](error_code failed) {
        if (failed) return self->drop();
        self->read();
      });
    } else {
      read();
    }
  }

  void retire() override {
    last_ = true;
    if (events_) events_->close();
    if (!asking_) drop();
  }

  void drop() override {
    error_code ignored;
    request_.work->cancel();
    if (events_) events_->leave();
    timer_.cancel();
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    if (seated_) leave();
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

  class Events;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  tcp::socket& socket() { return lowest().socket(); }

  void leave() {
    seated_ = false;
    asking_ ? state_.seats.leave_asking(seat_) : state_.seats.leave_quiet(seat_);
    state_.statistics.set_connections(state_.seats.size());
  }

  void read() {
    parser_.emplace();
    parser_->body_limit(state_.options.limits.body);
    parser_->header_limit(static_cast<std::uint32_t>(state_.options.limits.header));
    // For the whole request: bytes that trickle in do not move the deadline.
    lowest().expires_after(state_.options.limits.request_time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](error_code failed, std::size_t) { self->on_read(failed); });
  }

  void on_read(error_code failed) {
    if (!seated_) return;
    begun_ = Clock::now();
    if (failed) return on_bad_read(failed);
    lowest().expires_never();
    state_.seats.ask(seat_);
    asking_ = true;
    take_request();
    if (const auto refused = pass_rules()) return refuse(*refused, "rules");
    handle();
  }

  void on_bad_read(error_code failed) {
    const bool said_something = parser_->got_some() || buffer_.size() > 0;
    const auto refused = refusal_for(failed);
    if (!refused || (refused->status == 408 && !said_something)) return drop();  // a quiet connection just ends
    state_.refuse(peer_, parser_->is_header_done() ? std::string(parser_->get().target()) : "request", *refused,
                  "unreadable");
    if (refused->status == 408) return drop();
    state_.seats.ask(seat_);
    asking_ = true, last_ = true;
    lowest().expires_after(state_.options.limits.write_time);
    write(error_response(refused->status, refused->reason));
  }

  void take_request() {
    auto message = parser_->release();
    const auto field = [&](http::field name) { return std::string(message[name]); };
    head_only_ = message.method() == http::verb::head;
    last_ = last_ || !message.keep_alive();
    version_ = message.version();
    request_ = Request{};
    request_.method = head_only_ ? "GET" : std::string(message.method_string());
    target_ = std::string(message.target());
    request_.host = field(http::field::host);
    request_.origin = field(http::field::origin);
    request_.authorization = field(http::field::authorization);
    request_.content_type = field(http::field::content_type);
    request_.accept_encoding = field(http::field::accept_encoding);
    request_.if_none_match = field(http::field::if_none_match);
    request_.fetch_site = std::string(message["Sec-Fetch-Site"]);
    request_.peer = peer_;
    request_.body = std::move(message.body());
  }

  // The target, the method and the origin; then the token for what is not open.
  std::optional<Refusal> pass_rules() {
    route_ = nullptr;
    Result<Target> target = parse_target(target_);
    if (!target) return Refusal{400, target.error().message};
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    if (auto refused = check_origin(state_.access, request_)) return refused;
    bool path_known = false;
    route_ = state_.find(request_.method, request_.path, path_known);
    if (route_ == nullptr)
      return path_known ? Refusal{405, "no such method here"} : Refusal{404, "there is nothing here"};
    return route_->open ? std::nullopt : check_token(state_.access, request_);
  }

  void refuse(const Refusal& refused, std::string_view kind) {
    state_.refuse(peer_, request_.method + " " + target_, refused, kind);
    Response response = error_response(refused.status, refused.reason);
    if (refused.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (refused.status == 503) response.headers.emplace_back("Retry-After", "1");
    answer(std::move(response));
  }

  void handle() {
    if (route_->at_once) {
      if (std::optional<Response> response = route_->at_once(request_)) return answer(*std::move(response));
    }
    if (route_->work) return work();
    if (route_->stream) return open_stream();
    refuse({404, "there is nothing here"}, "rules");
  }

  void work() {
    const std::uint64_t turn = ++turn_;
    auto self = this->shared_from_this();
    const bool taken = state_.pool->take([self, turn, request = request_, route = route_] {
      Response response;
      if (request.work->is_cancelled()) return;
      try {
        response = route->work(request);
      } catch (const std::exception& unexpected) {
        response = error_response(500, fmt::format("internal error: {}", unexpected.what()));
      }
      asio::post(self->state_.network, [self, turn, response = std::move(response)]() mutable {
        if (self->turn_ == turn && self->seated_) self->answer(std::move(response));
      });
    });
    if (!taken) return refuse({503, "too much work is waiting"}, "busy");
    timer_.expires_after(state_.options.limits.work_time);
    timer_.async_wait([self, turn](error_code failed) {
      if (failed || self->turn_ != turn || !self->seated_) return;
      self->request_.work->cancel();
      self->refuse({504, "it took too long; ask /api/jobs for long searches"}, "out of time");
    });
    notice_leaving(turn);
  }

  // A client that leaves while it waits no longer needs its answer.
  void notice_leaving(std::uint64_t turn) {
    socket().async_wait(tcp::socket::wait_read, [self = this->shared_from_this(), turn](error_code failed) {
      if (failed || self->turn_ != turn || !self->seated_) return;
      char byte = 0;
      if (::recv(self->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) self->drop();
    });
  }

  void answer(Response response) {
    ++turn_;
    timer_.cancel();
    state_.statistics.count_request(route_ == nullptr ? "none" : route_->path, response.status, Clock::now() - begun_);
    lowest().expires_after(state_.options.limits.write_time);
    write(std::move(response));
  }

  // Whether this client gets the answer compressed; others must not be given that one by a cache between.
  bool choose_encoding(const Response& response, OutResponse& out) const {
    if (!response.gzip) return false;
    out.set(http::field::vary, "Accept-Encoding");
    if (!accepts_gzip(request_.accept_encoding)) return false;
    out.set(http::field::content_encoding, "gzip");
    return true;
  }

  OutResponse head_of(const Response& response) {
    OutResponse out{http::int_to_status(static_cast<unsigned>(response.status)), version_};
    out.set(http::field::content_type, response.type);
    for (const auto& [name, value] : security_headers()) out.set(name, value);
    if (kTls) out.set(http::field::strict_transport_security, "max-age=31536000");
    out.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : response.headers) out.set(name, value);
    return out;
  }

  void write(Response response) {
    out_.emplace(head_of(response));
    body_ = choose_encoding(response, *out_) ? std::move(response.gzip) : std::move(response.body);
    out_->keep_alive(!last_ && !state_.stopping);
    const std::size_t size = body_ ? body_->size() : 0;
    if (size > 0 && !head_only_) out_->body() = {body_->data(), size};
    if (response.status != 304) out_->content_length(size);
    const auto done = [self = this->shared_from_this()](error_code failed, std::size_t) { self->on_written(failed); };
    serializer_.emplace(*out_);
    if (head_only_) {
      http::async_write_header(stream_, *serializer_, done);
    } else {
      http::async_write(stream_, *serializer_, done);
    }
  }

  void on_written(error_code failed) {
    body_.reset();
    if (!seated_) return;
    if (failed || last_ || state_.stopping) return finish();
    asking_ = false;
    state_.seats.rest(seat_);
    read();
  }

  // A plain close while the client still sends would throw away the answer it has not read yet.
  void finish() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    lowest().expires_after(kFarewell);
    hear_out();
  }

  void hear_out() {
    lowest().async_read_some(asio::buffer(unheard_), [self = this->shared_from_this()](error_code failed, std::size_t) {
      if (!self->seated_) return;
      failed ? self->drop() : self->hear_out();
    });
  }

  void open_stream() {
    if (state_.streams >= state_.options.limits.streams) return refuse({503, "too many live streams"}, "busy");
    ++turn_;
    state_.statistics.count_request(route_->path, 200, Clock::now() - begun_);
    last_ = true;
    Response head{200, "text/event-stream", nullptr, {{"X-Accel-Buffering", "no"}}};
    out_.emplace(head_of(head));
    out_->keep_alive(false);
    serializer_.emplace(*out_);
    events_ = std::make_shared<Events>(this->shared_from_this());
    ++state_.streams;
    lowest().expires_after(state_.options.limits.write_time);
    http::async_write_header(stream_, *serializer_, [self = this->shared_from_this()](error_code failed, std::size_t) {
      if (failed || !self->seated_) return self->drop();
      self->lowest().expires_never();
      self->notice_leaving(self->turn_);
      self->beat();
      self->route_->stream(self->request_, self->events_);
    });
  }

  // A comment now and then shows that both ends are still there.
  void beat() {
    timer_.expires_after(kHeartbeat);
    timer_.async_wait([self = this->shared_from_this()](error_code failed) {
      if (failed || !self->seated_) return;
      self->push(": still here\n\n");
      self->beat();
    });
  }

  void push(std::string text) {
    if (unsent_.size() >= kMostUnsent) {
      state_.refuse(peer_, target_, {503, "the client does not keep up with the events"}, "slow reader");
      return drop();
    }
    unsent_.push_back(std::move(text));
    if (unsent_.size() == 1) push_next();
  }

  void push_next() {
    lowest().expires_after(state_.options.limits.write_time);
    asio::async_write(stream_, asio::buffer(unsent_.front()),
                      [self = this->shared_from_this()](error_code failed, std::size_t) {
                        if (failed || !self->seated_) return self->drop();
                        self->lowest().expires_never();
                        self->unsent_.pop_front();
                        if (!self->unsent_.empty()) return self->push_next();
                        if (!self->events_->is_open()) self->finish();
                      });
  }

  Server::State& state_;
  Stream stream_;
  asio::steady_timer timer_;
  std::string peer_, target_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<OutResponse> out_;
  std::optional<http::response_serializer<Body>> serializer_;
  std::shared_ptr<const std::string> body_;
  Request request_;
  const Route* route_ = nullptr;
  std::shared_ptr<Events> events_;
  std::deque<std::string> unsent_;
  std::array<char, 4096> unheard_;
  Seats::Seat seat_;
  Clock::time_point begun_;
  unsigned version_ = 11;
  std::uint64_t turn_ = 0;  // answers that come too late are of an earlier one
  bool seated_ = false, asking_ = false, last_ = false, head_only_ = false;
};

// The sending side, which others hold: it outlives the connection and then does nothing.
template <class Stream>
class Client<Stream>::Events final : public EventStream {
 public:
  explicit Events(std::shared_ptr<Client> client)
      : client_(std::move(client)), network_(client_.lock()->state_.network) {}

  void send(std::string_view event, std::string_view data) override {
    if (!open_) return;
    std::string text = fmt::format("event: {}\n", event);
    while (!data.empty()) {
      const std::string_view line = data.substr(0, data.find('\n'));
      text += fmt::format("data: {}\n", line);
      data.remove_prefix(std::min(data.size(), line.size() + 1));
    }
    text += '\n';
    const std::shared_ptr<Client> client = client_.lock();
    if (!client) return;
    asio::post(network_, [client, text = std::move(text)]() mutable {
      if (client->seated_) client->push(std::move(text));
    });
  }

  void close() override {
    if (!open_.exchange(false)) return;
    if (const std::shared_ptr<Client> client = client_.lock()) {
      asio::post(network_, [client] {
        if (client->seated_ && client->unsent_.empty()) client->finish();
      });
    }
  }

  bool is_open() const override { return open_; }

  // The connection is gone.
  void leave() {
    open_ = false;
    if (const std::shared_ptr<Client> client = client_.lock(); client && !left_) {
      left_ = true;
      --client->state_.streams;
    }
  }

 private:
  std::weak_ptr<Client> client_;
  asio::io_context& network_;
  std::atomic<bool> open_{true};
  bool left_ = false;
};

}  // namespace

std::shared_ptr<Connection> make_connection(Server::State& state, tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (state.tls)
    return std::make_shared<Client<beast::ssl_stream<beast::tcp_stream>>>(state, std::move(socket), *state.tls);
  return std::make_shared<Client<beast::tcp_stream>>(state, std::move(socket));
}

}  // namespace rightsize::http_server
