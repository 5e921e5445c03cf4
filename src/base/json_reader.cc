#include "base/json_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/utf8.h"

namespace rightsize {
namespace {

constexpr std::size_t kBuffer = 1U << 20;
constexpr std::size_t kLongest = 1U << 20;  // a string or number
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 4'000'000;  // of one tree
constexpr std::size_t kLongestShown = 40;
constexpr const char* kCutOff = "the text ends too early: a ']' or '}' is missing";
constexpr std::size_t kEndMark = 1;  // a zero after the text, at which loops over strings stop without a bounds check
constexpr std::size_t kPair = 160;   // "[1760000000.123,"-1.2345678901234567e-308"]," with room to spare

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The grammar of RFC 8259, which std::from_chars does not check: no leading zero or '+', digits around the point.
bool is_number(std::string_view text) {
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.'; }

// Reads a pair in its usual form, without spaces. Returns the position after it, or null for any other form.
[[gnu::always_inline]] inline const char* usual_pair(const char* at, const char* end, JsonReader::Pair& pair) {
  if (end - at < 8 || *at != '[') return nullptr;
  const char* after = parse_decimal(at + 1, end, pair.first);
  if (after == nullptr || end - after < 4 || after[0] != ',' || after[1] != '"') return nullptr;
  after = parse_decimal(after + 2, end, pair.second);
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

const JsonValue* value_at(const JsonValue& value, std::string_view path) {
  const JsonValue* at = &value;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const JsonMember* member = at->find(path.substr(0, dot));
    at = member == nullptr ? nullptr : &member->value;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

const std::string& text_at(const JsonValue& value, std::string_view path) {
  static const std::string kNone;
  const JsonValue* at = value_at(value, path);
  return at == nullptr ? kNone : at->text;
}

std::optional<double> number_at(const JsonValue& value, std::string_view path) {
  const JsonValue* at = value_at(value, path);
  if (at == nullptr) return std::nullopt;
  if (at->type == JsonType::kNumber) return at->number;
  return at->type == JsonType::kString ? parse_sample_value(at->text) : std::nullopt;
}

const std::vector<JsonValue>& items_at(const JsonValue& value, std::string_view path) {
  static const std::vector<JsonValue> kNone;
  const JsonValue* at = value_at(value, path);
  return at == nullptr ? kNone : at->items;
}

JsonReader::JsonReader(ByteSource& source, std::string file)
    : source_(source), file_(std::move(file)), buffer_(kBuffer + kEndMark) {
  if (ensure(3) && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) begin_ += 3;
}

// Reads more if necessary. Returns whether the buffer, which is far larger, contains at least `bytes` unread bytes.
bool JsonReader::ensure(std::size_t bytes) {
  if (end_ - begin_ >= bytes) return true;
  if (exhausted_ || error_) return false;
  const std::string_view done(buffer_.data(), begin_);
  if (const std::size_t last = done.rfind('\n'); last != std::string_view::npos) {
    lines_ += static_cast<std::size_t>(std::count(done.begin(), done.end(), '\n'));
    line_start_ = consumed_ + last + 1;
  }
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

void JsonReader::fail_at(std::size_t offset, std::string message, std::size_t length) {
  if (error_) return;
  // Earlier text is gone, so the excerpt begins with the buffer. Line and column count from the start of the document.
  const std::size_t in_buffer = offset > consumed_ ? offset - consumed_ : 0;
  Place place = place_in(file_, {buffer_.data(), end_}, in_buffer, length);
  if (place.line == 1) place.column += static_cast<int>(consumed_ - line_start_);
  place.line += static_cast<int>(lines_);
  error_ = bad_input(std::move(message)).at(std::move(place));
}

void JsonReader::refuse(const std::string& message) {
  if (!error_) error_ = bad_input(fmt::format("{}: {}", file_, message));
}

void JsonReader::skip_spaces() {
  while (true) {
    while (begin_ < end_ && is_space(buffer_[begin_])) ++begin_;
    if (begin_ < end_ || !ensure(1)) return;
  }
}

char JsonReader::peek() {
  if (error_) return '\0';
  skip_spaces();
  return begin_ < end_ ? buffer_[begin_] : '\0';
}

bool JsonReader::expect(char wanted) {
  if (peek() == wanted) {
    ++begin_;
    return true;
  }
  if (begin_ == end_) {
    fail_here(kCutOff);
  } else {
    fail_here(fmt::format("expected '{}'", wanted));
  }
  return false;
}

bool JsonReader::enter(char opening) {
  if (!expect(opening)) return false;
  if (first_.size() == kDeepest) fail_here("nested more than 64 levels deep");
  first_.push_back(true);
  return !failed();
}

bool JsonReader::is_next(char opening) {
  if (peek() == opening) return true;
  if (!failed()) skip();
  return false;
}

// Steps over the comma to the next item of the innermost array or object, or over its end.
bool JsonReader::next(char closing) {
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

bool JsonReader::next_member(std::string& name) { return next('}') && read_string(name) && expect(':'); }

bool JsonReader::next_document() {
  first_.clear();
  return !failed() && !at_end();
}

void JsonReader::expect_end() {
  if (!at_end()) fail_here("unexpected text after the end of the object");
}

bool JsonReader::read_escape(std::string& text) {
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

bool JsonReader::read_string(std::string& text) {
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
      fail_here("a string is not closed: its final '\"' is missing");
      return false;
    }
    const char stop = buffer_[begin_++];
    if (stop == '"') return true;
    if (stop != '\\' || !read_escape(text)) {
      fail_here(stop == '\\' ? "the string contains an escape sequence that JSON does not have"
                             : "the string contains a control character; write it as an escape such as \\n");
      return false;
    }
  }
}

bool JsonReader::skip_string() {
  if (!expect('"')) return false;
  while (true) {
    while (begin_ < end_ && buffer_[begin_] != '"' && buffer_[begin_] != '\\') ++begin_;
    if (begin_ < end_ && buffer_[begin_] == '"') {
      ++begin_;
      return true;
    }
    const bool escaped = begin_ < end_;
    if (!ensure(escaped ? 2 : 1)) {
      fail_here("a string is not closed: its final '\"' is missing");
      return false;
    }
    begin_ += escaped ? 2 : 0;
  }
}

std::optional<double> JsonReader::read_number() {
  const char kind = peek();
  if (kind == '"') {
    if (!read_string(scratch_)) return std::nullopt;
    std::optional<double> value = parse_sample_value(scratch_);
    if (!value) fail_here(fmt::format("'{}' is not a number", scratch_.substr(0, kLongestShown)));
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
    fail_here("expected a number");
    return std::nullopt;
  }
  begin_ += static_cast<std::size_t>(stop - from);
  return value;
}

bool JsonReader::read_value(JsonValue& value) {
  values_left_ = kMostValues;
  value = {};
  return read_tree(value);
}

bool JsonReader::read_tree(JsonValue& value) {
  const char kind = peek();
  value.offset = offset();
  if (values_left_-- == 0) fail_here(fmt::format("more than {} values in one entry", kMostValues));
  if (failed()) return false;
  if (kind == '[') {
    value.type = JsonType::kArray;
    for (enter_array(); next_item();) {
      if (!read_tree(value.items.emplace_back())) return false;
    }
  } else if (kind == '{') {
    value.type = JsonType::kObject;
    for (enter_object(); next('}');) {
      JsonMember& member = value.members.emplace_back();
      if (peek() != '"') fail_here(at_end() ? kCutOff : "expected a name in double quotes");
      member.offset = offset();
      if (!read_string(member.name)) return false;
      member.length = offset() - member.offset;
      if (!expect(':') || !read_tree(member.value)) return false;
    }
  } else if (kind == '"') {
    value.type = JsonType::kString;
    if (!read_string(value.text)) return false;
    value.length = offset() - value.offset;
  } else {
    return read_word(value);
  }
  return !failed();
}

// A number, true, false or null.
bool JsonReader::read_word(JsonValue& value) {
  scratch_.clear();
  while ((begin_ < end_ || ensure(1)) && in_word(buffer_[begin_]) && scratch_.size() < kLongest) {
    scratch_ += buffer_[begin_++];
  }
  value.length = std::max<std::size_t>(1, scratch_.size());
  const std::string_view shown = std::string_view(scratch_).substr(0, kLongestShown);
  const bool numeric = !scratch_.empty() && (scratch_[0] == '-' || is_digit(scratch_[0]));
  if (numeric && is_number(scratch_)) {
    value.type = JsonType::kNumber;
    const char* end = scratch_.data() + scratch_.size();
    parse_decimal(scratch_.data(), end, value.number);
    std::int64_t whole = 0;
    // Up to 2^53 a double represents every whole number exactly.
    constexpr double kExact = 9007199254740992.0;
    if (const auto [stop, problem] = std::from_chars(scratch_.data(), end, whole);
        problem == std::errc() && stop == end) {
      value.integer = whole;
    } else if (std::abs(value.number) <= kExact && value.number == std::floor(value.number)) {
      value.integer = static_cast<std::int64_t>(value.number);
    }
    if (!std::isfinite(value.number))
      fail_at(value.offset, fmt::format("the number '{}' is too large", shown), value.length);
  } else if (numeric) {
    fail_at(value.offset, fmt::format("'{}' is not a JSON number", shown), value.length);
  } else if (scratch_ == "true" || scratch_ == "false") {
    value.type = JsonType::kBool;
    value.boolean = scratch_ == "true";
  } else if (scratch_.empty() && at_end()) {
    fail_here(kCutOff);
  } else if (scratch_ != "null") {
    fail_at(value.offset, scratch_.empty() ? "expected a value" : fmt::format("'{}' is not a JSON value", shown),
            value.length);
  }
  return !failed();
}

void JsonReader::skip() {
  const std::size_t depth = first_.size();
  std::size_t open = 0;
  do {
    switch (peek()) {
      case '{':
      case '[':
        ++begin_;
        if (++open + depth > kDeepest) fail_here("nested more than 64 levels deep");
        break;
      case '}':
      case ']':
        if (open == 0) return fail_here("expected a value");
        ++begin_;
        --open;
        break;
      case '"':
        skip_string();
        break;
      case ',':
      case ':':
        if (open == 0) return fail_here("expected a value");
        ++begin_;
        break;
      case '\0':
        return fail_here(kCutOff);
      default: {
        const std::size_t from = begin_;
        ensure(64);
        while (begin_ < end_ && in_word(buffer_[begin_])) ++begin_;
        if (begin_ == from) return fail_here("expected a value");
      }
    }
  } while (open > 0 && !failed());
}

bool JsonReader::read_pairs(std::span<Pair> into, std::size_t& count) {
  count = 0;
  while (count < into.size()) {
    if (!next_item()) return false;
    peek();
    ensure(kPair * 64);
    const char* at = buffer_.data() + begin_;
    const char* end = buffer_.data() + end_;
    const std::size_t before = count;
    // While pairs have the usual form and the next one is certain to be in the buffer.
    while (count < into.size()) {
      const char* after = usual_pair(at, end, into[count]);
      if (after == nullptr) break;
      ++count;
      at = after;
      if (static_cast<std::size_t>(end - at) < kPair || at[0] != ',' || at[1] != '[') break;
      ++at;
    }
    if (count > before) {
      // The last comma belongs to a pair that was not read; next_item() expects it.
      if (at[-1] == ',') --at;
      begin_ += static_cast<std::size_t>(at - (buffer_.data() + begin_));
    } else {
      if (!read_pair(into[count])) return false;
      ++count;
    }
  }
  return true;
}

bool JsonReader::read_pair(Pair& pair) {
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
    fail_here("expected a pair of time and value");
    return false;
  }
  std::optional<double> v = read_number();
  if (next_item()) fail_here("expected a pair of time and value");
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  pair = {t.value_or(kNone), v.value_or(kNone)};
  return !failed();
}

}  // namespace rightsize
