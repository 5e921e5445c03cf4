#include "base/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/utf8.h"

namespace rightsize {
namespace {

void write_control(std::string& out, char sign) {
  constexpr std::string_view kSigns = "\b\f\n\r\t", kLetters = "bfnrt";
  const std::size_t known = kSigns.find(sign);
  if (known == std::string_view::npos) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(sign));
  } else {
    out += {'\\', kLetters[known]};
  }
}

void write_text(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char sign = text[i];
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (sign == '"' || sign == '\\') {
      out += {'\\', sign};
    } else if (length == 1 && static_cast<unsigned char>(sign) < 0x20) {
      write_control(out, sign);
    } else {
      out.append(text, i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  out += '"';
}

// The shortest text that reads back as the same double, always recognisable as one.
void write_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const std::string text = fmt::format("{}", value);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

bool is_member(const Json& item) {
  const Json::Array* pair = item.items();
  return pair != nullptr && pair->size() == 2 && pair->front().text() != nullptr;
}

}  // namespace

// All code that uses the variant is in this file; the many files that fill documents need not compile it.
Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;
Json::Json(Only<bool> value) : value_(value.value) {}
Json::Json(Only<std::int64_t> value) : value_(value.value) {}
Json::Json(Only<std::uint64_t> value) : value_(value.value) {}
Json::Json(Only<double> value) : value_(value.value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(Array items) : value_(std::move(items)) {}

Json::Json(std::initializer_list<JsonItem> list) {
  Array items;
  items.reserve(list.size());
  for (const JsonItem& item : list) items.push_back(std::move(item.value_));
  if (!std::all_of(items.begin(), items.end(), is_member)) {
    value_ = std::move(items);
    return;
  }
  Object members;
  members.reserve(items.size());
  for (Json& item : items) {
    Array& pair = std::get<Array>(item.value_);
    members.emplace_back(std::move(std::get<std::string>(pair[0].value_)), std::move(pair[1]));
  }
  value_ = std::move(members);
}

Json Json::array(std::initializer_list<JsonItem> list) {
  Array items;
  for (const JsonItem& item : list) items.push_back(std::move(item.value_));
  return items;
}

Json Json::object() {
  Json json;
  json.value_ = Object{};
  return json;
}

bool Json::operator==(const Json& other) const { return value_ == other.value_; }
const Json::Array* Json::items() const { return std::get_if<Array>(&value_); }
const std::string* Json::text() const { return std::get_if<std::string>(&value_); }

Json& Json::operator[](std::string_view name) {
  if (!std::holds_alternative<Object>(value_)) value_ = Object{};
  Object& members = std::get<Object>(value_);
  for (auto& [have, value] : members) {
    if (have == name) return value;
  }
  return members.emplace_back(name, nullptr).second;
}

std::size_t Json::size() const {
  if (const Array* items = std::get_if<Array>(&value_)) return items->size();
  const Object* members = std::get_if<Object>(&value_);
  return members == nullptr ? 0 : members->size();
}

void Json::push_back(Json item) {
  if (!std::holds_alternative<Array>(value_)) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(item));
}

const Json* Json::find(std::string_view name) const {
  const Object* members = std::get_if<Object>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [&](const auto& m) { return m.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

std::string Json::dump() const {
  std::string out;
  write(out, 0);
  return out;
}

void Json::write(std::string& out, std::size_t indent) const {
  // Brackets around one entry per line, each written by `entry`.
  const auto lines = [&](char open, char close, const auto& entries, const auto& entry) {
    out += open;
    bool first = true;
    for (const auto& each : entries) {
      out.append(first ? "\n" : ",\n").append(indent + 2, ' ');
      entry(each);
      first = false;
    }
    if (!first) out.append("\n").append(indent, ' ');
    out += close;
  };
  if (const Array* items = std::get_if<Array>(&value_)) {
    lines('[', ']', *items, [&](const Json& item) { item.write(out, indent + 2); });
  } else if (const Object* members = std::get_if<Object>(&value_)) {
    lines('{', '}', *members, [&](const auto& member) {
      write_text(out, member.first);
      out += ": ";
      member.second.write(out, indent + 2);
    });
  } else if (const std::string* text = std::get_if<std::string>(&value_)) {
    write_text(out, *text);
  } else if (const double* number = std::get_if<double>(&value_)) {
    write_double(out, *number);
  } else if (const bool* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else if (const std::int64_t* whole = std::get_if<std::int64_t>(&value_)) {
    out += std::to_string(*whole);
  } else if (const std::uint64_t* count = std::get_if<std::uint64_t>(&value_)) {
    out += std::to_string(*count);
  } else {
    out += "null";
  }
}

}  // namespace rightsize
