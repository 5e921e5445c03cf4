#include "kv_cache/hashed_trace.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/date.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace rightsize::kv_cache {
namespace {

constexpr double kLongest = 3.2e11;  // milliseconds: ten years
constexpr double kMostTokens = 1e9;

// The members of one line; missing ones stay NaN.
struct Line {
  double at_ms = std::nan(""), input = std::nan(""), output = std::nan("");
  bool has_blocks = false, has_text = false;
  std::vector<std::uint64_t> blocks = {};
  std::string text = {}, answer = {}, time = {};
};

// Numbers above 2^53 are rounded, which leaves 53 bits of a hash.
std::uint64_t block_of(double number) { return std::bit_cast<std::uint64_t>(number + 0.0); }

// A hash written as text, "sha256:...": the 64 bits of FNV-1a, after those of the text before it.
std::uint64_t block_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// All texts of a value: a string, messages with role and content, parts of a content.
void read_text(JsonReader& json, std::string& text) {
  constexpr std::size_t kMostText = 64U << 20;
  const auto add = [&] {
    if (std::string part; json.read_string(part) && text.size() < kMostText) text += part + "\n";
  };
  if (json.peek() == '"') return add();
  if (json.peek() == '[') return void(json.each_item([&] { read_text(json, text); }));
  const bool object = json.each_member([&](const std::string& name) {
    const bool said = name == "role" || name == "content" || name == "text" || name == "name" || name == "tool_calls" ||
                      name == "function" || name == "arguments";
    said ? read_text(json, text) : json.skip();
  });
  if (!object) json.skip();
}

bool is_one_of(std::string_view name, std::string_view names) {
  const std::vector<std::string_view> all = split_list(names, ' ');
  return std::ranges::find(all, name) != all.end();
}

// The members of an object and of the objects in it; the first of each kind counts.
bool read_members(JsonReader& json, Line& line) {
  return json.each_member([&](const std::string& name) {
    const auto number = [&](double& to) {
      const double value = json.read_number().value_or(std::nan(""));
      if (std::isnan(to)) to = value;
    };
    if (is_one_of(name, "timestamp time created created_at start_time startTime ts")) {
      if (json.peek() != '"') return number(line.at_ms);
      return line.time.empty() ? void(json.read_string(line.time)) : json.skip();
    }
    if (is_one_of(name, "input_length prompt_tokens input_tokens")) return number(line.input);
    if (is_one_of(name, "output_length completion_tokens output_tokens")) return number(line.output);
    if (is_one_of(name, "messages prompt") && !line.has_text) {
      line.has_text = true;
      return read_text(json, line.text);
    }
    if (is_one_of(name, "choices completion response output")) {
      if (json.peek() != '{') return read_text(json, line.answer);
    }
    if (name != "hash_ids") return json.peek() == '{' ? void(read_members(json, line)) : json.skip();
    line.has_blocks = json.each_item([&] {
      if (json.peek() == '"') {
        if (std::string text; json.read_string(text)) line.blocks.push_back(block_of(text));
      } else if (const std::optional<double> id = json.read_number())
        line.blocks.push_back(block_of(*id));
    });
  });
}

void read_line(JsonReader& json, Line& line) {
  line.at_ms = line.input = line.output = std::nan("");
  line.has_blocks = line.has_text = false;
  line.blocks.clear(), line.text.clear(), line.answer.clear(), line.time.clear();
  if (!read_members(json, line)) json.refuse("a request is not a JSON object");
}

// Days and milliseconds of "2025-10-01T09:30:11.5Z".
double milliseconds_of(std::string_view text) {
  constexpr std::size_t kDate = 10, kClock = 8;
  const Result<Date> date = parse_date(text.substr(0, kDate));
  int part[3] = {};
  if (!date || text.size() < kDate + 1 + kClock) return std::nan("");
  for (std::size_t i = 0; i < 3; ++i) {
    const char* begin = text.data() + kDate + 1 + 3 * i;
    if (std::from_chars(begin, begin + 2, part[i]).ptr != begin + 2) return std::nan("");
  }
  const std::string_view rest = text.substr(kDate + 1 + kClock);
  double fraction = 0;
  if (rest.starts_with('.')) std::from_chars(rest.data(), rest.data() + rest.size(), fraction);
  return ((date->day * 24.0 + part[0]) * 3600 + part[1] * 60 + part[2] + fraction) * 1000;
}

// Fills in what a log of chats does not count: blocks, lengths and milliseconds.
class TextBlocks {
 public:
  explicit TextBlocks(std::int64_t block_tokens) : block_tokens_(block_tokens) {}

  // Characters per token; 0 for a line with hashes.
  double complete(Line& line) {
    if (line.has_blocks || !line.has_text) return 0;
    constexpr double kMilliseconds = 1e11;  // since 1970; in seconds, it would be the year 5138
    if (!line.time.empty()) line.at_ms = milliseconds_of(line.time);
    if (line.time.empty() && line.at_ms < kMilliseconds) line.at_ms *= 1000;
    const auto length = static_cast<double>(line.text.size());
    if (!(characters_ > 0)) characters_ = line.input >= 1 ? std::clamp(length / line.input, 1.0, 8.0) : 4.0;
    if (std::isnan(line.input)) line.input = std::ceil(length / characters_);
    if (std::isnan(line.output)) line.output = std::ceil(static_cast<double>(line.answer.size()) / characters_);
    const auto each = static_cast<std::size_t>(std::max(1.0, std::round(characters_ * double(block_tokens_))));
    const double most = std::ceil(line.input / static_cast<double>(block_tokens_));
    std::uint64_t hash = block_of(std::string_view{});
    for (std::size_t at = 0; at < line.text.size() && double(line.blocks.size()) < most; at += each)
      line.blocks.push_back(hash = block_of(std::string_view(line.text).substr(at, each), hash));
    line.has_blocks = true;
    return characters_;
  }

 private:
  std::int64_t block_tokens_;
  double characters_ = 0;  // per token
};

bool is_length(double tokens) { return tokens >= 0 && tokens <= kMostTokens; }

// Why a line is refused; empty if it is not.
std::string complaint(const Line& line, double before) {
  if (!line.has_blocks)
    return "no hash_ids; each line needs timestamp, input_length, output_length and hash_ids, or the text of a chat "
           "(messages or prompt)";
  if (!(line.at_ms >= 0)) return "timestamp must be a number of milliseconds, 0 or more; in logs of chats, seconds";
  if (line.at_ms < before) return "a timestamp is earlier than the one above; sort the trace by time";
  if (line.at_ms - before > kLongest) return "a timestamp is more than ten years after the one above";
  if (!is_length(line.input) || !is_length(line.output))
    return "input_length and output_length must be 0 to 1e9 tokens";
  return {};
}

}  // namespace

Result<> each_request(ByteSource& source, const std::string& file, const std::function<void(const HashedRequest&)>& use,
                      std::int64_t text_block) {
  JsonReader json(source, file);
  Line line;
  TextBlocks texts(text_block);
  double before = std::nan("");
  std::uint64_t number = 0;
  // Logs are written when answers end, so their requests are sorted here.
  struct Kept {
    HashedRequest request;
    std::vector<std::uint64_t> blocks;
  };
  std::vector<Kept> kept;
  while (!json.failed() && json.next_document()) {
    read_line(json, line);
    if (json.failed()) break;
    ++number;
    const double characters = texts.complete(line);
    if (characters > 0) before = std::nan("");
    if (const std::string wrong = complaint(line, before); !wrong.empty())
      return fail(bad_input(fmt::format("{}, request {}: {}", file, number, wrong)));
    before = line.at_ms;
    const auto output = static_cast<std::int64_t>(std::max(1.0, line.output));
    const HashedRequest request{line.at_ms, static_cast<std::int64_t>(line.input), output, line.blocks, characters};
    characters > 0 ? void(kept.push_back({request, line.blocks})) : use(request);
  }
  if (json.failed()) return fail(json.error());
  std::ranges::stable_sort(kept, {}, [](const Kept& k) { return k.request.at_ms; });
  for (Kept& each : kept) each.request.blocks = each.blocks, use(each.request);
  if (number == 0) return fail(bad_input(fmt::format("{}: the trace is empty", file)));
  return {};
}

std::int64_t usual_block(std::string_view beginning) {
  return beginning.find("\"hash_ids\"") == std::string_view::npos ? kTextBlockTokens : kBlockTokens;
}

bool is_hashed_trace(std::string_view beginning) { return trim(beginning).starts_with('{'); }

}  // namespace rightsize::kv_cache
