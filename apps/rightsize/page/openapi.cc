#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/embedded.h"
#include "base/located_json.h"
#include "report/report.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/page/endpoints.h"

namespace rightsize::app {
namespace {

// The schema of a document without "$schema" and "$id", which only a separate file needs.
Json answer_schema(const std::string& name, const std::string& type) {
  const Result<Json> schema = document_schema(name, "#/components/schemas/" + type);
  Json kept = Json::object();
  if (!schema) return {{"type", "object"}};
  schema->visit([&](const auto& held) {
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Json::Object>) {
      for (const auto& [key, value] : held) {
        if (key == "$ref" || !key.starts_with('$')) kept[key] = value;
      }
    }
  });
  return kept;
}

Json reference(std::string_view name) { return {{"$ref", fmt::format("#/components/schemas/{}", name)}}; }

Json content(Json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

// Numbers and booleans may be sent as such; lists and values with units are text.
Json flag_schema(const FlagInfo& flag) {
  Json schema;
  const std::string_view type = flag.json_type();
  if (flag.values.empty()) {
    schema = {{"type", "boolean"}};
  } else if (const auto choices = flag.choices(); !choices.empty()) {
    schema = {{"type", "string"}, {"enum", Json(choices)}};
  } else if (flag.setting->kind == settings::Kind::kPrice) {
    schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
  } else {
    schema = {{"type", Json::array({"string", type == "string" ? "number" : type})}};
  }
  std::string meaning = flag.meaning;
  if (!flag.otherwise.empty()) meaning += fmt::format(" (default {})", flag.otherwise);
  if (const auto range = settings::number_range(*flag.setting)) {
    schema["minimum"] = report::json_number(range->least);
    schema["maximum"] = report::json_number(range->most);
  } else if (settings::is_number(flag.setting->kind)) {
    meaning += "; " + settings::range_words(*flag.setting);
  }
  schema["description"] = meaning;
  return schema;
}

Json request_schema(const Endpoint& endpoint) {
  Json properties = Json::object();
  for (const auto& [name, flag] : endpoint.flags) properties[name] = flag_schema(flag);
  for (const SentDocument& document : endpoint.documents)
    properties[document.name] = {{"type", "string"}, {"description", document.meaning}};
  properties["format"] = {{"type", "string"},
                          {"enum", Json::array({"json", "text", "csv", "md", "html"})},
                          {"description", "format of the response (default json)"}};
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

// "rate-profile" -> "RateProfile".
std::string type_name(const std::string& name) {
  std::string made;
  bool upper = true;
  for (const char c : name) {
    if (c == '-') {
      upper = true;
      continue;
    }
    made += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return made;
}

// One of the documents that the command prints.
Json answer_of(const Endpoint& endpoint) {
  if (endpoint.answers.size() == 1) return reference(type_name(endpoint.answers.front()));
  Json any = Json::array();
  for (const std::string& name : endpoint.answers) any.push_back(reference(type_name(name)));
  return {{"anyOf", std::move(any)}};
}

Json operation(const Endpoint& endpoint, const char* suffix) {
  const auto problem = [](const char* description) {
    return Json{{"description", description}, {"content", content(reference("Problem"))}};
  };
  return {{"operationId", endpoint.name + suffix},
          {"summary", endpoint.summary},
          {"responses",
           {{"200", {{"description", "the document of --format json"}, {"content", content(answer_of(endpoint))}}},
            {"400", problem("the request is wrong; every mistake is listed")},
            {"default", problem("refused, or temporarily unavailable")}}}};
}

Json path_of(const Endpoint& endpoint) {
  Json get = operation(endpoint, "ByQuery");
  get["parameters"] = Json::array();
  for (const auto& [name, flag] : endpoint.flags)
    get["parameters"].push_back(
        {{"name", name}, {"in", "query"}, {"description", flag.meaning}, {"schema", {{"type", "string"}}}});
  Json post = operation(endpoint, "");
  post["requestBody"] = {{"content", content(reference(type_name(endpoint.name) + "Request"))}};
  return {{"get", std::move(get)}, {"post", std::move(post)}};
}

}  // namespace

Json openapi_document() {
  // server.json is written by hand: it describes jobs, live events and the server, which no command declares.
  const Checked<LocatedJson> base = LocatedJson::parse("server.json", std::string(embedded_file("api/server.json")));
  Json document = base ? copy_of(base->root()) : Json::object();
  document["info"]["version"] = RIGHTSIZE_VERSION;
  Json& shapes = document["components"]["schemas"];
  for (const Endpoint& endpoint : endpoints()) {
    document["paths"]["/api/" + endpoint.name] = path_of(endpoint);
    shapes[type_name(endpoint.name) + "Request"] = request_schema(endpoint);
    for (const std::string& name : endpoint.answers) shapes[type_name(name)] = answer_schema(name, type_name(name));
  }
  return document;
}

}  // namespace rightsize::app
