#include "rightsize/page/asked.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

constexpr std::size_t kLongestValue = 2000;

bool is_switch(const FlagInfo& flag) { return flag.values.empty(); }

const Document* find_document(const Endpoint& endpoint, std::string_view name) {
  for (const Document& document : endpoint.documents) {
    if (name == document.name) return &document;
  }
  return nullptr;
}

// By any of its spellings: "providers" is "provider", as on the command line, and "ttft_slo" is "ttft-slo".
auto find_flag(const Endpoint& endpoint, std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  const auto named = endpoint.flags.find(name);
  if (named != endpoint.flags.end()) return named;
  return std::find_if(endpoint.flags.begin(), endpoint.flags.end(), [&](const auto& flag) {
    const std::vector<std::string_view> others = split_list(flag.second.others, ',');
    return std::find(others.begin(), others.end(), "--" + name) != others.end();
  });
}

Error unknown_name(const Endpoint& endpoint, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [flag, info] : endpoint.flags) known.push_back(flag);
  for (const Document& document : endpoint.documents) known.emplace_back(document.name);
  return bad_input(fmt::format("'{}' is nothing /api/{} takes", name.substr(0, 100), endpoint.name))
      .with_hint(did_you_mean(name, known))
      .with_hint("/api/openapi.json lists everything");
}

// What would make a command read a file, ask an address or change something.
std::string forbidden(const Endpoint& endpoint, const std::string& name, const std::string& value) {
  if (value.size() > kLongestValue) return "is too long";
  if (value.find('\0') != std::string::npos) return "holds a zero byte";
  if (name == "arrivals" && value.starts_with("trace:")) return "cannot be a file here";
  if (endpoint.name == "prices" && name == "what" && (value == "import" || value == "update" || value == "forget"))
    return "cannot change prices here";
  if (endpoint.name == "decisions" && name == "what" && value == "review") return "asks other servers: use the command";
  return {};
}

// Collects what was asked and every mistake in it.
class Reader {
 public:
  explicit Reader(const Endpoint& endpoint) { asked_.endpoint = &endpoint; }

  void take(const std::string& name, const std::string& value, const Place& place) {
    if (name == "format") return take_format(value, place);
    if (find_document(*asked_.endpoint, name) != nullptr) {
      asked_.documents[name] = value;
      return;
    }
    const auto flag = find_flag(*asked_.endpoint, name);
    if (flag == asked_.endpoint->flags.end()) return note(unknown_name(*asked_.endpoint, name), place);
    if (const std::string why = forbidden(*asked_.endpoint, flag->first, value); !why.empty())
      return note(bad_input(fmt::format("'{}' {}", name, why)), place);
    if (!is_switch(flag->second)) {
      if (!value.empty()) asked_.flags[flag->first].push_back(value);
    } else if (value == "true" || value == "1" || value.empty()) {
      asked_.flags[flag->first] = {"true"};
    } else if (value != "false" && value != "0") {
      note(bad_input(fmt::format("'{}' is true or false", name)), place);
    }
  }

  void take(const LocatedJson& document, const JsonMember& member) {
    const JsonValue& value = member.value;
    if (value.type == JsonType::kNull) return;
    if (value.type == JsonType::kArray) {
      for (const JsonValue& item : value.items) take_value(document, member.name, item);
    } else {
      take_value(document, member.name, value);
    }
  }

  void note(Error error, const Place& place = {}) { errors_.push_back(std::move(error).at(place)); }

  Checked<Asked> finish() && {
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(asked_);
  }

 private:
  void take_value(const LocatedJson& document, const std::string& name, const JsonValue& value) {
    const Place place = document.place(value);
    if (value.type == JsonType::kString) return take(name, value.text, place);
    if (value.type == JsonType::kBool) return take(name, value.boolean ? "true" : "false", place);
    if (value.type == JsonType::kNumber)
      return take(name, value.integer ? std::to_string(*value.integer) : report::exact_number(value.number), place);
    note(bad_input(fmt::format("'{}' is text, a number, true or false, or a list of these", name)), place);
  }

  void take_format(const std::string& value, const Place& place) {
    Result<report::Format> format = report::parse_format(value);
    if (!format) return note(format.error(), place);
    asked_.format = *format;
  }

  Asked asked_;
  Errors errors_;
};

}  // namespace

std::string Asked::key() const {
  std::string key = fmt::format("{}\n{}", endpoint->name, static_cast<int>(format));
  for (const auto& [name, values] : flags) {
    for (const std::string& value : values) key += fmt::format("\n{}={}:{}", name, value.size(), value);
  }
  for (const auto& [name, text] : documents) key += fmt::format("\n{}<{}:{}", name, text.size(), text);
  return key;
}

std::vector<std::string> Asked::words() const {
  std::vector<std::string> words, arguments;
  for (const auto& [name, values] : flags) {
    const FlagInfo& flag = endpoint->flags.at(name);
    for (const std::string& value : values) {
      if (!flag.name.starts_with("--"))
        arguments.push_back(value);
      else if (is_switch(flag))
        words.push_back(flag.name);
      else
        words.push_back(flag.name + "=" + value);
    }
  }
  // Behind this nothing is a flag, whatever it begins with.
  if (!arguments.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), arguments.begin(), arguments.end());
  }
  return words;
}

Checked<Asked> read_asked(const Endpoint& endpoint, const Query& query, const std::string& body) {
  Reader reader(endpoint);
  for (const auto& [name, value] : query) reader.take(name, value, {});
  if (!body.empty()) {
    RIGHTSIZE_TRY(const LocatedJson document, LocatedJson::parse("request", body));
    if (document.root().type != JsonType::kObject) return fail(bad_input("the body must be a JSON object"));
    for (const JsonMember& member : document.root().members) reader.take(document, member);
  }
  return std::move(reader).finish();
}

}  // namespace rightsize::app
