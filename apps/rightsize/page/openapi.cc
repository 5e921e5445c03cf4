#include "rightsize/page/openapi.h"

#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/embedded.h"
#include "base/located_json.h"
#include "base/text.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/page/endpoints.h"

namespace rightsize::app {
namespace {

// The schema of a document without "$schema" and "$id", which belong to a file of its own.
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

// The shapes of what no command prints, by name.
Json schemas() {
  const Checked<LocatedJson> read =
      LocatedJson::parse("documents.json", std::string(embedded_file("api/documents.json")));
  return read ? copy_of(read->root()) : Json::object();
}

Json reference(std::string_view name) { return {{"$ref", fmt::format("#/components/schemas/{}", name)}}; }

Json content(Json schema, const char* type = "application/json") {
  Json kinds = Json::object();
  kinds[type] = {{"schema", std::move(schema)}};
  return kinds;
}

// "a|b|c" as a list of choices. Numbers and true or false may be given as such; lists and text with units are text.
Json flag_schema(const FlagInfo& flag) {
  Json schema;
  if (flag.values.empty()) {
    schema = {{"type", "boolean"}};
  } else if (flag.values.starts_with("true|false")) {
    schema = {{"type", Json::array({"boolean", "string"})}};
  } else if (flag.values.find('|') != std::string::npos && flag.values.find(' ') == std::string::npos &&
             flag.values.find("FILE") == std::string::npos && flag.values.find('<') == std::string::npos) {
    schema["type"] = "string";
    schema["enum"] = Json::array();
    for (const std::string_view choice : split_list(flag.values, '|')) schema["enum"].push_back(choice);
  } else if (flag.name == "--price" || flag.name == "--spot-price") {
    schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
  } else {
    schema = {{"type", Json::array({"string", "number"})}};
  }
  schema["description"] = flag.meaning + (flag.otherwise.empty() ? "" : fmt::format(" (default {})", flag.otherwise));
  return schema;
}

Json request_schema(const Endpoint& endpoint) {
  Json properties = Json::object();
  for (const auto& [name, flag] : endpoint.flags) properties[name] = flag_schema(flag);
  for (const Document& document : endpoint.documents)
    properties[document.name] = {{"type", "string"}, {"description", document.meaning}};
  properties["format"] = {{"type", "string"},
                          {"enum", Json::array({"json", "text", "csv", "md", "html"})},
                          {"description", "how the answer is written (default json)"}};
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

Json responses(Json ok) {
  Json all = Json::object();
  all["200"] = std::move(ok);
  all["400"] = {{"description", "something in the request is wrong; every mistake is listed"},
                {"content", content(reference("Problem"))}};
  all["default"] = {{"description", "refused, or not possible now"}, {"content", content(reference("Problem"))}};
  return all;
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

// One of the documents the command prints.
Json answer_of(const Endpoint& endpoint) {
  if (endpoint.answers.size() == 1) return reference(type_name(endpoint.answers.front()));
  Json any = Json::array();
  for (const std::string& name : endpoint.answers) any.push_back(reference(type_name(name)));
  return {{"anyOf", std::move(any)}};
}

Json operation(const Endpoint& endpoint, const char* suffix) {
  return {{"operationId", endpoint.name + suffix},
          {"summary", endpoint.summary},
          {"responses",
           responses({{"description", "the document of --format json"}, {"content", content(answer_of(endpoint))}})}};
}

Json path_of(const Endpoint& endpoint) {
  Json get = operation(endpoint, "ByQuery");
  get["parameters"] = Json::array();
  for (const auto& [name, flag] : endpoint.flags)
    get["parameters"].push_back(
        {{"name", name}, {"in", "query"}, {"description", flag.meaning}, {"schema", {{"type", "string"}}}});
  Json post = operation(endpoint, "");
  post["requestBody"] = {{"content", content(reference(type_name(endpoint.name) + "Request"))}};
  Json both = Json::object();
  both["get"] = std::move(get);
  both["post"] = std::move(post);
  return both;
}

Json named(const char* method, Json operation) {
  Json path = Json::object();
  path[method] = std::move(operation);
  return path;
}

Json id_parameter(const char* name) {
  return Json::array({{{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
}

Json stream(const char* id, const char* summary) {
  return {{"operationId", id},
          {"summary", summary},
          {"responses", responses({{"description", "server-sent events"},
                                   {"content", content({{"type", "string"}}, "text/event-stream")}})}};
}

void add_job_paths(Json& paths) {
  const auto job = [](const char* id, const char* summary, const char* parameter) {
    Json made = {{"operationId", id},
                 {"summary", summary},
                 {"parameters", id_parameter(parameter)},
                 {"responses", responses({{"description", "how the search is, or its answer"},
                                          {"content", content(reference("Job"))}})}};
    return made;
  };
  Json start = job("startJob", "Starts a long search of a command; the body is that of /api/COMMAND", "command");
  start["requestBody"] = {{"content", content({{"type", "object"}})}};
  start["responses"]["202"] = {{"description", "started"}, {"content", content(reference("Job"))}};
  paths["/api/jobs/{command}"] = named("post", std::move(start));
  Json one = named("get", job("showJob", "How a search is, or its answer", "id"));
  one["delete"] = job("cancelJob", "Cancels a search", "id");
  paths["/api/job/{id}"] = std::move(one);
  Json events = stream("watchJob", "The events of a search: progress, then done, failed or cancelled");
  events["parameters"] = id_parameter("id");
  paths["/api/job-events/{id}"] = named("get", std::move(events));
}

}  // namespace

Json openapi_document() {
  Json document = {{"openapi", "3.1.0"},
                   {"info",
                    {{"title", "rightsize"},
                     {"version", RIGHTSIZE_VERSION},
                     {"description",
                      "Each path takes what the command of its name takes as flags and answers with its --format json "
                      "document."}}}};
  Json paths = Json::object(), shapes = schemas();
  for (const Endpoint& endpoint : endpoints()) {
    paths["/api/" + endpoint.name] = path_of(endpoint);
    shapes[type_name(endpoint.name) + "Request"] = request_schema(endpoint);
    for (const std::string& name : endpoint.answers) shapes[type_name(name)] = answer_schema(name, type_name(name));
  }
  add_job_paths(paths);
  paths["/api/live"] = named("get", stream("watchLive", "This machine's GPUs: 'gpus' events, the document of top"));
  paths["/api/server"] = named(
      "get",
      {{"operationId", "showServer"},
       {"summary", "What this server is and where its fleet comes from"},
       {"responses", responses({{"description", "about this server"}, {"content", content(reference("Server"))}})}});
  document["paths"] = std::move(paths);
  Json bearer = {{"type", "http"}, {"scheme", "bearer"}};
  document["components"] = {{"schemas", std::move(shapes)}};
  document["components"]["securitySchemes"]["token"] = std::move(bearer);
  return document;
}

}  // namespace rightsize::app
