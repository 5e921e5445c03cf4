#include "http_server/message.h"

#include <gtest/gtest.h>

namespace rightsize::http_server {
namespace {

TEST(Compress, IsOnlyForClientsThatAcceptIt) {
  for (const char* header : {"gzip", "deflate, gzip, br", "GZIP;q=0.3", "*", "br;q=1, *;q=0.1", " gzip "})
    EXPECT_TRUE(accepts_gzip(header)) << header;
  for (const char* header : {"", "br", "gzip;q=0", "*;q=0", "*, gzip;q=0.0", "gzipped", "identity", ";;;,,q="})
    EXPECT_FALSE(accepts_gzip(header)) << header;
}

TEST(Compress, LeavesSmallAndIncompressibleContentAlone) {
  Response response = text_response(200, "short");
  compress(response);
  EXPECT_FALSE(response.gzip);
  response = text_response(200, std::string(20000, 'x'));
  compress(response);
  ASSERT_TRUE(response.gzip);
  EXPECT_LT(response.gzip->size(), 200U);
  EXPECT_EQ(response.body->size(), 20000U);
  std::string noise(20000, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  response = text_response(200, noise);
  compress(response);
  EXPECT_FALSE(response.gzip);
}

}  // namespace
}  // namespace rightsize::http_server
