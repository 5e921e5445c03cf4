#include "telemetry/feeds/json_stream.h"

#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "telemetry/decimal.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kBuffer = 1U << 20;
constexpr std::size_t kLongest = 1U << 20;  // a string or number
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kEndMark = 1;  // a zero behind the text: loops over strings need not look for its end
constexpr std::size_t kPair = 160;   // "[1760000000.123,"-1.2345678901234567e-308"]," with room

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

void append_utf8(std::string& text, unsigned code) {
  auto put = [&](unsigned byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// The usual spelling of a pair without spaces: the place behind it, or null when it is spelt otherwise.
[[gnu::always_inline]] inline const char* usual_pair(const char* at, const char* end, Point& pair) {
  if (end - at < 8 || *at != '[') return nullptr;
  double time = 0;
  const char* after = parse_decimal(at + 1, end, time);
  pair.time = unix_seconds(time);
  if (after == nullptr || end - after < 4 || after[0] != ',' || after[1] != '"') return nullptr;
  after = parse_decimal(after + 2, end, pair.value);
  if (after == nullptr || end - after < 2 || after[0] != '"' || after[1] != ']') return nullptr;
  return after + 2;
}

}  // namespace

std::optional<double> parse_sample_value(std::string_view text) {
  double value = 0;
  if (parse_decimal(text.data(), text.data() + text.size(), value) == text.data() + text.size() && !text.empty()) {
    return value;
  }
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

JsonStream::JsonStream(ByteSource& source, std::string file)
    : source_(source), file_(std::move(file)), buffer_(kBuffer + kEndMark) {
  if (ensure(3) && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) begin_ += 3;
}

// Whether at least `bytes` unread bytes (far fewer than it holds) are in the buffer, read on where the source has more.
bool JsonStream::ensure(std::size_t bytes) {
  if (end_ - begin_ >= bytes) return true;
  if (exhausted_ || error_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  consumed_ += begin_;
  end_ -= begin_;
  begin_ = 0;
  while (end_ < bytes && !exhausted_) {
    Result<std::size_t> got = source_.read(buffer_.from(end_, buffer_.size() - kEndMark - end_));
    if (!got) {
      error_ = std::move(got).error();
      break;
    }
    exhausted_ = *got == 0;
    end_ += *got;
  }
  buffer_[end_] = '\0';
  return end_ - begin_ >= bytes;
}

void JsonStream::fail_here(std::string message) {
  if (error_) return;
  error_ = bad_input(fmt::format("{}: at byte {}: {}", file_, consumed_ + begin_ + 1, message));
}

void JsonStream::refuse(std::string message) {
  if (!error_) error_ = bad_input(fmt::format("{}: {}", file_, message));
}

void JsonStream::skip_spaces() {
  while (true) {
    while (begin_ < end_ && is_space(buffer_[begin_])) ++begin_;
    if (begin_ < end_ || !ensure(1)) return;
  }
}

char JsonStream::peek() {
  if (error_) return '\0';
  skip_spaces();
  return begin_ < end_ ? buffer_[begin_] : '\0';
}

bool JsonStream::at_end() { return peek() == '\0' && begin_ == end_; }

bool JsonStream::expect(char wanted) {
  if (peek() == wanted) {
    ++begin_;
    return true;
  }
  if (begin_ == end_) {
    fail_here("the text ends too early");
  } else {
    fail_here(fmt::format("'{}' expected", wanted));
  }
  return false;
}

bool JsonStream::enter_object() {
  if (!expect('{')) return false;
  if (first_.size() == kDeepest) fail_here("nested too deeply");
  first_.push_back(true);
  return !failed();
}

bool JsonStream::enter_array() {
  if (!expect('[')) return false;
  if (first_.size() == kDeepest) fail_here("nested too deeply");
  first_.push_back(true);
  return !failed();
}

// Steps over the comma to the next item of the innermost array or object, or over its end.
bool JsonStream::next(char closing) {
  if (error_ || first_.empty()) return false;
  if (peek() == closing) {
    ++begin_;
    first_.pop_back();
    return false;
  }
  if (!first_.back() && !expect(',')) return false;
  first_.back() = false;
  return !failed();
}

bool JsonStream::next_item() { return next(']'); }

bool JsonStream::next_member(std::string& name) { return next('}') && read_string(name) && expect(':'); }

bool JsonStream::next_document() {
  first_.clear();
  return !failed() && !at_end();
}

bool JsonStream::read_escape(std::string& text) {
  if (!ensure(1)) return false;
  const char kind = buffer_[begin_++];
  static constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  if (const std::size_t at = kNames.find(kind); at != std::string_view::npos) {
    text.push_back(kMeant[at]);
    return true;
  }
  auto hex = [&](unsigned& code) {
    if (!ensure(4)) return false;
    const char* from = buffer_.data() + begin_;
    const auto [stop, problem] = std::from_chars(from, from + 4, code, 16);
    begin_ += 4;
    return problem == std::errc() && stop == from + 4;
  };
  unsigned code = 0, low = 0;
  if (kind != 'u' || !hex(code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
    if (!ensure(6) || buffer_[begin_] != '\\' || buffer_[begin_ + 1] != 'u') return false;
    begin_ += 2;
    if (!hex(low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    return false;
  }
  append_utf8(text, code);
  return true;
}

bool JsonStream::read_string(std::string& text) {
  text.clear();
  if (!expect('"')) return false;
  while (true) {
    const char* from = buffer_.data() + begin_;
    const char* p = from;
    while (*p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
    text.append(from, p);
    begin_ += static_cast<std::size_t>(p - from);
    if (text.size() > kLongest) {
      fail_here("a string longer than 1 MiB");
      return false;
    }
    if (begin_ == end_) {
      if (ensure(1)) continue;
      fail_here("a string without its closing quote");
      return false;
    }
    const char stop = buffer_[begin_++];
    if (stop == '"') return true;
    if (stop != '\\' || !read_escape(text)) {
      fail_here(stop == '\\' ? "an escape JSON does not have" : "a control character inside a string");
      return false;
    }
  }
}

bool JsonStream::skip_string() {
  if (!expect('"')) return false;
  while (true) {
    while (begin_ < end_ && buffer_[begin_] != '"' && buffer_[begin_] != '\\') ++begin_;
    if (begin_ < end_ && buffer_[begin_] == '"') {
      ++begin_;
      return true;
    }
    const bool escaped = begin_ < end_;
    if (!ensure(escaped ? 2 : 1)) {
      fail_here("a string without its closing quote");
      return false;
    }
    begin_ += escaped ? 2 : 0;
  }
}

std::optional<double> JsonStream::read_number() {
  const char kind = peek();
  if (kind == '"') {
    if (!read_string(scratch_)) return std::nullopt;
    std::optional<double> value = parse_sample_value(scratch_);
    if (!value) fail_here(fmt::format("'{}' is no number", scratch_.substr(0, 40)));
    return value;
  }
  if (kind == 'n') {
    skip();
    return std::nullopt;
  }
  ensure(64);
  double value = 0;
  const char* from = buffer_.data() + begin_;
  const char* stop = (kind == '-' || is_digit(kind)) ? parse_decimal(from, buffer_.data() + end_, value) : nullptr;
  if (stop == nullptr) {
    fail_here("a number expected");
    return std::nullopt;
  }
  begin_ += static_cast<std::size_t>(stop - from);
  return value;
}

void JsonStream::skip() {
  const std::size_t depth = first_.size();
  std::size_t open = 0;
  do {
    switch (peek()) {
      case '{':
      case '[':
        ++begin_;
        if (++open + depth > kDeepest) fail_here("nested too deeply");
        break;
      case '}':
      case ']':
        if (open == 0) return fail_here("a value expected");
        ++begin_;
        --open;
        break;
      case '"':
        skip_string();
        break;
      case ',':
      case ':':
        if (open == 0) return fail_here("a value expected");
        ++begin_;
        break;
      case '\0':
        return fail_here("the text ends too early");
      default: {
        const std::size_t from = begin_;
        ensure(64);
        while (begin_ < end_ && (std::isalnum(static_cast<unsigned char>(buffer_[begin_])) != 0 ||
                                 buffer_[begin_] == '-' || buffer_[begin_] == '+' || buffer_[begin_] == '.')) {
          ++begin_;
        }
        if (begin_ == from) return fail_here("a value expected");
      }
    }
  } while (open > 0 && !failed());
}

bool JsonStream::read_pairs(std::span<Point> into, std::size_t& count) {
  count = 0;
  while (count < into.size()) {
    if (!next_item()) return false;
    peek();
    ensure(kPair * 64);
    const char* at = buffer_.data() + begin_;
    const char* end = buffer_.data() + end_;
    const std::size_t before = count;
    // As long as pairs follow each other in the usual spelling and the next one is in the buffer for certain.
    while (count < into.size()) {
      const char* after = usual_pair(at, end, into[count]);
      if (after == nullptr) break;
      ++count;
      at = after;
      if (static_cast<std::size_t>(end - at) < kPair || at[0] != ',' || at[1] != '[') break;
      ++at;
    }
    if (count > before) {
      // A comma that was stepped over belongs to a pair that was not read: next_item() wants it.
      if (at[-1] == ',') --at;
      begin_ += static_cast<std::size_t>(at - (buffer_.data() + begin_));
    } else {
      if (!read_pair(into[count])) return false;
      ++count;
    }
  }
  return true;
}

bool JsonStream::read_pair(Point& pair) {
  peek();
  ensure(kPair);
  const char* at = buffer_.data() + begin_;
  if (const char* after = usual_pair(at, buffer_.data() + end_, pair); after != nullptr) {
    begin_ += static_cast<std::size_t>(after - at);
    return true;
  }
  if (!enter_array() || !next_item()) return false;
  std::optional<double> t = read_number();
  if (!next_item()) {
    fail_here("a pair of time and value expected");
    return false;
  }
  std::optional<double> v = read_number();
  if (next_item()) fail_here("a pair of time and value expected");
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  pair = {unix_seconds(t.value_or(kNone)), v.value_or(kNone)};
  return !failed();
}

}  // namespace rightsize::telemetry
