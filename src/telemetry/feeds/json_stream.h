// JSON of any length read from front to back in bounded memory: exports of metrics stores are one document of
// gigabytes, which no parser of whole documents can hold.
//
//   JsonStream json(source, "export.json");
//   std::string name;
//   for (json.enter_object(); json.next_member(name);) {
//     if (name != "data") { json.skip(); continue; }
//     ...
//   }
//   if (json.failed()) return fail(json.error());
//
// After the first mistake every call returns false or nothing, so loops end by themselves and one check at the end is
// enough. A string or a number may be 1 MiB long, nesting 64 deep; more is a mistake. Nothing here allocates per value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/byte_source.h"
#include "telemetry/raw_bytes.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

class JsonStream {
 public:
  // The source must outlive the stream. `file` is used in errors only.
  JsonStream(ByteSource& source, std::string file);

  // '{' is consumed; the next call is next_member.
  bool enter_object();
  // The next member's name; the caller then reads or skips its value. False at the '}', which is consumed.
  bool next_member(std::string& name);
  bool enter_array();
  bool next_item();

  // The next character that is not a space, without consuming it; 0 at the end or after a mistake.
  char peek();
  bool at_end();

  // A number; also a number written as a string, as Prometheus and Google do ("NaN", "+Inf", "12"). null: nothing.
  std::optional<double> read_number();
  bool read_string(std::string& text);
  void skip();

  // [time, "value"]: Prometheus's pair.
  bool read_pair(Point& pair);

  // [[time, "value"], ...]: the innermost loop of everything. Fills the beginning of `into`;
  // false when that was the end of the list (its ']' is then consumed). Call after enter_array().
  bool read_pairs(std::span<Point> into, std::size_t& count);

  // The document goes on after a line end with another one (NDJSON): forgets the nesting.
  bool next_document();

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  // Notes a mistake of meaning at the current place: "no 'data' in this answer".
  void refuse(std::string message);

 private:
  bool ensure(std::size_t bytes);
  void skip_spaces();
  bool expect(char wanted);
  bool next(char closing);
  bool skip_string();
  bool read_escape(std::string& text);
  void fail_here(std::string message);

  ByteSource& source_;
  std::string file_;
  RawBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the unread bytes of buffer_; a zero follows
  std::size_t consumed_ = 0;         // bytes of the document before buffer_[0]
  bool exhausted_ = false;
  std::vector<bool> first_;  // by depth: no item was read yet
  std::string scratch_;
  std::optional<Error> error_;
};

// "NaN", "+Inf", "-Inf", "12.5" as stores write them.
std::optional<double> parse_sample_value(std::string_view text);

}  // namespace rightsize::telemetry
