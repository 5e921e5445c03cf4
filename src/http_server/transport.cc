#include "http_server/transport.h"

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace rightsize::http_server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

template <class Stream>
class StreamTransport : public Transport {
 public:
  template <class... Arguments>
  explicit StreamTransport(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  void read_some(asio::mutable_buffer buffer, Done done) override { stream_.async_read_some(buffer, std::move(done)); }
  void write(std::array<asio::const_buffer, 2> buffers, Done done) override {
    asio::async_write(stream_, buffers, std::move(done));
  }

 protected:
  Stream stream_;
};

class PlainTransport final : public StreamTransport<tcp::socket> {
 public:
  using StreamTransport::StreamTransport;
  void handshake(Done done) override { done({}, 0); }
  void finish(Done done) override {
    error_code failed;
    stream_.shutdown(tcp::socket::shutdown_send, failed);
    done(failed, 0);
  }
  tcp::socket& socket() override { return stream_; }
  bool is_tls() const override { return false; }
};

class TlsTransport final : public StreamTransport<asio::ssl::stream<tcp::socket>> {
 public:
  using StreamTransport::StreamTransport;
  void handshake(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](error_code failed) { done(failed, 0); });
  }
  void finish(Done done) override {
    stream_.async_shutdown([this, done = std::move(done)](error_code failed) {
      error_code ignored;
      stream_.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
      done(failed, 0);
    });
  }
  tcp::socket& socket() override { return stream_.next_layer(); }
  bool is_tls() const override { return true; }
};

}  // namespace

std::unique_ptr<Transport> make_transport(tcp::socket socket, asio::ssl::context* tls) {
  if (tls == nullptr) return std::make_unique<PlainTransport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), *tls);
}

}  // namespace rightsize::http_server
