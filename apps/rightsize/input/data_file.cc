#include "rightsize/input/data_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/confine.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/located_json.h"
#include "base/text.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

constexpr double kCharactersPerToken = 4;
constexpr double kMostParsed = 20'000;  // later samples are counted, and taken to be as long

// The characters of all texts, without the names of roles.
double characters(const JsonValue& value) {
  double sum = static_cast<double>(value.text.size());
  for (const JsonValue& item : value.items) sum += characters(item);
  for (const JsonMember& member : value.members) {
    if (!lists_word("role from id type custom_id method url model source", member.name))
      sum += characters(member.value);
  }
  return sum;
}

const JsonValue* member(const JsonValue& value, std::string_view names) {
  for (const std::string_view name : split_list(names, ' ')) {
    if (const JsonMember* found = value.find(name)) return &found->value;
  }
  return nullptr;
}

// Adds one sample; false if the object is something else.
bool add_sample(const JsonValue& object, DataFile& data) {
  const JsonValue* body = member(object, "body");
  const JsonValue& sample = body == nullptr ? object : *body;
  const JsonValue* turns = member(sample, "messages conversations conversation");
  const JsonValue* prompt = member(sample, "prompt instruction input question query");
  const JsonValue* answer = member(sample, "completion response output answer chosen");
  const JsonValue* text = member(sample, "text content input_text document");
  if (object.find("timestamp") != nullptr || (turns == nullptr && prompt == nullptr && text == nullptr)) return false;
  if (body != nullptr) {
    data.requests = true;
    if (data.model.empty()) data.model = text_at(sample, "model");
    data.prompt += characters(turns != nullptr ? *turns : prompt != nullptr ? *prompt : *text);
    for (const char* limit : {"max_completion_tokens", "max_tokens"}) {
      const auto most = number_at(sample, limit);
      if (most) data.answer += *most * kCharactersPerToken, data.answer_is_limit = true;
      if (most) break;
    }
  } else if (turns != nullptr && turns->items.size() > 1) {
    // The last turn answers the earlier ones.
    data.answer += characters(turns->items.back());
    for (std::size_t i = 0; i + 1 < turns->items.size(); ++i) data.prompt += characters(turns->items[i]);
  } else if (answer != nullptr) {
    data.answer += characters(*answer);
    data.prompt += characters(sample) - characters(*answer);
  }
  data.tokens += characters(sample);
  return true;
}

}  // namespace

std::optional<DataFile> read_data_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || !may_read(path)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const int first = (file >> std::ws).peek();
  if (first != '{' && first != '[') return std::nullopt;
  DataFile data;
  double parsed = 0;
  const auto add = [&](const JsonValue& sample) {
    if (!add_sample(sample, data)) return false;
    ++parsed, ++data.samples;
    return true;
  };
  if (first == '[') {
    Result<std::string> text = read_file(path);
    if (!text) return std::nullopt;
    const Checked<LocatedJson> list = LocatedJson::parse(path, *std::move(text));
    if (!list || list->root().items.empty()) return std::nullopt;
    for (const JsonValue& item : list->root().items) {
      if (!add(item)) return std::nullopt;
    }
  } else {
    for (std::string line; std::getline(file, line);) {
      if (trim(line).empty()) continue;
      if (parsed >= kMostParsed) {
        ++data.samples;
        continue;
      }
      const Checked<LocatedJson> object = LocatedJson::parse(path, line);
      if (!object || !add(object->root())) return std::nullopt;
    }
  }
  if (parsed == 0) return std::nullopt;
  data.tokens *= data.samples / parsed / kCharactersPerToken;
  data.prompt /= parsed * kCharactersPerToken;
  data.answer /= parsed * kCharactersPerToken;
  return data;
}

}  // namespace rightsize::app
