#include "kv_cache/hashed_trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/json_reader.h"
#include "base/text.h"

namespace rightsize::kv_cache {
namespace {

constexpr double kLongest = 3.2e11;  // milliseconds: ten years
constexpr double kMostTokens = 1e9;

// The members of one line; missing ones stay NaN.
struct Line {
  double at_ms = std::nan(""), input = std::nan(""), output = std::nan("");
  bool has_blocks = false;
  std::vector<std::uint64_t> blocks = {};
};

// Numbers above 2^53 are rounded, which leaves 53 bits of a hash.
std::uint64_t block_of(double number) { return std::bit_cast<std::uint64_t>(number + 0.0); }

// A hash written as text, "sha256:...": the 64 bits of FNV-1a.
std::uint64_t block_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

void read_line(JsonReader& json, Line& line) {
  line.at_ms = line.input = line.output = std::nan("");
  line.has_blocks = false;
  line.blocks.clear();
  const bool object = json.each_member([&](const std::string& name) {
    const auto number = [&](double& to) { to = json.read_number().value_or(std::nan("")); };
    if (name == "timestamp") return number(line.at_ms);
    if (name == "input_length") return number(line.input);
    if (name == "output_length") return number(line.output);
    if (name != "hash_ids") return json.skip();
    line.has_blocks = json.each_item([&] {
      if (json.peek() == '"') {
        if (std::string text; json.read_string(text)) line.blocks.push_back(block_of(text));
      } else if (const std::optional<double> id = json.read_number())
        line.blocks.push_back(block_of(*id));
    });
  });
  if (!object) json.refuse("a request is not a JSON object");
}

bool is_length(double tokens) { return tokens >= 0 && tokens <= kMostTokens; }

// Why a line is refused; empty if it is not.
std::string complaint(const Line& line, double before) {
  if (!line.has_blocks) return "no hash_ids; each line needs timestamp, input_length, output_length and hash_ids";
  if (!(line.at_ms >= 0)) return "timestamp must be a number of milliseconds, 0 or more";
  if (line.at_ms < before) return "a timestamp is earlier than the one above; sort the trace by time";
  if (line.at_ms > kLongest) return "a timestamp is more than ten years after the start";
  if (!is_length(line.input) || !is_length(line.output))
    return "input_length and output_length must be 0 to 1e9 tokens";
  return {};
}

}  // namespace

Result<> each_request(ByteSource& source, const std::string& file,
                      const std::function<void(const HashedRequest&)>& use) {
  JsonReader json(source, file);
  Line line;
  double before = 0;
  std::uint64_t number = 0;
  while (!json.failed() && json.next_document()) {
    read_line(json, line);
    if (json.failed()) break;
    ++number;
    if (const std::string wrong = complaint(line, before); !wrong.empty())
      return fail(bad_input(fmt::format("{}, request {}: {}", file, number, wrong)));
    before = line.at_ms;
    const auto output = static_cast<std::int64_t>(std::max(1.0, line.output));
    use({line.at_ms, static_cast<std::int64_t>(line.input), output, line.blocks});
  }
  if (json.failed()) return fail(json.error());
  if (number == 0) return fail(bad_input(fmt::format("{}: the trace is empty", file)));
  return {};
}

bool is_hashed_trace(std::string_view beginning) { return trim(beginning).starts_with('{'); }

}  // namespace rightsize::kv_cache
