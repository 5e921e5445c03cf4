#include "rightsize/page/api_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

constexpr std::size_t kLongestValue = 2000;

bool is_switch(const FlagInfo& flag) { return flag.values.empty(); }

const SentDocument* find_document(const Endpoint& endpoint, std::string_view name) {
  for (const SentDocument& document : endpoint.documents) {
    if (name == document.name) return &document;
  }
  return nullptr;
}

// Accepts every spelling: "providers" means "provider", as on the command line, and "ttft_slo" means "ttft-slo".
auto find_flag(const Endpoint& endpoint, std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  const auto named = endpoint.flags.find(name);
  if (named != endpoint.flags.end()) return named;
  return std::find_if(endpoint.flags.begin(), endpoint.flags.end(),
                      [&](const auto& flag) { return flag.second.is_called("--" + name); });
}

Error unknown_name(const Endpoint& endpoint, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [flag, info] : endpoint.flags) known.push_back(flag);
  for (const SentDocument& document : endpoint.documents) known.emplace_back(document.name);
  return bad_input(fmt::format("/api/{1} does not take '{0}'", name.substr(0, 100), endpoint.name))
      .with_hint(did_you_mean(name, known))
      .with_hint("/api/openapi.json lists what it takes");
}

// Why a value is refused: it would read a file, contact a server or change something.
std::string forbidden(const Endpoint& endpoint, const std::string& name, const std::string& value) {
  if (value.size() > kLongestValue) return "is too long";
  if (value.find('\0') != std::string::npos) return "contains a zero byte";
  if (name == "arrivals" && value.starts_with("trace:")) return "cannot be a file here";
  if (endpoint.name == "prices" && name == "what" && (value == "import" || value == "update" || value == "forget"))
    return "changes prices; use the command line";
  if (endpoint.name == "decisions" && name == "what" && value == "review")
    return "contacts other servers; use the command line";
  return {};
}

// Collects the values of a request and every mistake in it.
class RequestReader {
 public:
  explicit RequestReader(const Endpoint& endpoint) { request_.endpoint = &endpoint; }

  void take(const std::string& name, const std::string& value, const Place& place) {
    if (name == "format") return take_format(value, place);
    if (find_document(*request_.endpoint, name) != nullptr) {
      request_.documents[name] = value;
      return;
    }
    const auto flag = find_flag(*request_.endpoint, name);
    if (flag == request_.endpoint->flags.end()) return note(unknown_name(*request_.endpoint, name), place);
    if (const std::string why = forbidden(*request_.endpoint, flag->first, value); !why.empty())
      return note(bad_input(fmt::format("'{}' {}", name, why)), place);
    if (!is_switch(flag->second)) {
      if (!value.empty()) request_.flags[flag->first].push_back(value);
    } else if (value == "true" || value == "1" || value.empty()) {
      request_.flags[flag->first] = {"true"};
    } else if (value != "false" && value != "0") {
      note(bad_input(fmt::format("'{}' must be true or false", name)), place);
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

  Checked<ApiRequest> finish() && {
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(request_);
  }

 private:
  void take_value(const LocatedJson& document, const std::string& name, const JsonValue& value) {
    const Place place = document.place(value);
    if (value.type == JsonType::kString) return take(name, value.text, place);
    if (value.type == JsonType::kBool) return take(name, value.boolean ? "true" : "false", place);
    if (value.type == JsonType::kNumber)
      return take(name, value.integer ? std::to_string(*value.integer) : report::exact_number(value.number), place);
    note(bad_input(fmt::format("'{}' must be text, a number, true, false, or a list of these", name)), place);
  }

  void take_format(const std::string& value, const Place& place) {
    Result<report::Format> format = report::parse_format(value);
    if (!format) return note(format.error(), place);
    request_.format = *format;
  }

  ApiRequest request_;
  Errors errors_;
};

}  // namespace

std::string ApiRequest::cache_key() const {
  std::string key = fmt::format("{}\n{}", endpoint->name, static_cast<int>(format));
  for (const auto& [name, values] : flags) {
    for (const std::string& value : values) key += fmt::format("\n{}={}:{}", name, value.size(), value);
  }
  for (const auto& [name, text] : documents) key += fmt::format("\n{}<{}:{}", name, text.size(), text);
  return key;
}

std::vector<std::string> ApiRequest::arguments() const {
  std::vector<std::string> all, positional;
  for (const auto& [name, values] : flags) {
    const FlagInfo& flag = endpoint->flags.at(name);
    for (const std::string& value : values) {
      const bool is_flag = flag.name.starts_with("--");
      (is_flag ? all : positional).push_back(!is_flag ? value : is_switch(flag) ? flag.name : flag.name + "=" + value);
    }
  }
  // After "--" nothing is a flag, whatever it begins with.
  if (!positional.empty()) all.emplace_back("--");
  all.insert(all.end(), positional.begin(), positional.end());
  return all;
}

Checked<ApiRequest> parse_api_request(const Endpoint& endpoint, const Query& query, const std::string& body) {
  RequestReader reader(endpoint);
  for (const auto& [name, value] : query) reader.take(name, value, {});
  if (!body.empty()) {
    RIGHTSIZE_TRY(const LocatedJson document, LocatedJson::parse("request", body));
    if (document.root().type != JsonType::kObject) return fail(bad_input("the body must be a JSON object"));
    for (const JsonMember& member : document.root().members) reader.take(document, member);
  }
  return std::move(reader).finish();
}

}  // namespace rightsize::app
