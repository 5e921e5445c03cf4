// A byte stream to one client, plain or TLS. Its callbacks are std::function: Asio's templates are then compiled only
// here, once for each kind of stream.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

namespace rightsize::http_server {

class Transport {
 public:
  using Done = std::function<void(const boost::system::error_code&, std::size_t bytes)>;

  virtual ~Transport() = default;
  virtual void handshake(Done done) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, Done done) = 0;
  virtual void write(std::array<boost::asio::const_buffer, 2> buffers, Done done) = 0;
  // Tells the client that no more data follows: TLS sends close_notify, then both sides close their half of the
  // connection.
  virtual void finish(Done done) = 0;
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  virtual bool is_tls() const = 0;
};

// `tls` may be null.
std::unique_ptr<Transport> make_transport(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);

}  // namespace rightsize::http_server
