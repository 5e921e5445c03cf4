#include "http_server/exchange.h"

#include "base/json.h"

namespace rightsize::http_server {

Response text_response(int status, std::string body, std::string type) {
  return {status, std::move(type), std::make_shared<const std::string>(std::move(body)), {}};
}

Response error_response(int status, std::string_view message) {
  return text_response(status, Json{{"error", message}}.dump() + "\n", "application/json; charset=utf-8");
}

}  // namespace rightsize::http_server
