#include "rightsize/manual/schemas.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/embedded.h"
#include "base/list_of.h"
#include "base/located_json.h"
#include "base/suggest.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using report::DocumentType;
using report::Fields;

// Schemas of documents that have no field table yet.
constexpr std::string_view kFolder = "schemas/", kEnding = "-1.json";

const DocumentType* find_document(std::string_view name) {
  for (const DocumentType* document : DocumentType::all()) {
    if (document->name() == name) return document;
  }
  return nullptr;
}

std::optional<settings::NumberRange> range_of(const FlagInfo& flag) { return settings::number_range(*flag.setting); }

const Fields<settings::NumberRange> kRangeFields = {
    {"minimum", "smallest number", &settings::NumberRange::least},
    {"maximum", "largest number", &settings::NumberRange::most},
};
const Fields<FlagInfo> kFlagFields = {
    {"name", "the flag, or the name of an argument", &FlagInfo::name},
    {"argument", "the argument that may be given instead", &FlagInfo::argument},
    {"values", "the placeholder of the value; empty for a switch", &FlagInfo::values},
    {"type", "JSON type of a value without a unit", &FlagInfo::json_type,
     report::one_of({"boolean", "integer", "number", "string"})},
    {"choices?", "the values it takes", &FlagInfo::choices},
    {kRangeFields, range_of},
    {"meaning", "what it is for", &FlagInfo::meaning},
    {"default", "the value without the flag", &FlagInfo::otherwise},
    {"group", "the heading in the help", &FlagInfo::group},
    {"required", "must be given", &FlagInfo::required},
    {"list", "takes several values, separated by commas", &FlagInfo::list},
    {"repeatable", "may be given more than once", &FlagInfo::repeatable},
};
const Fields<CommandInfo> kCommandFields = {
    {"name", "the command", &CommandInfo::name},
    {"summary", "what it answers", &CommandInfo::summary},
    {"flags", "what it takes", kFlagFields, &CommandInfo::flags},
};

}  // namespace

Json describe_flags(const CommandInfo& command) { return json_of(kCommandFields, command); }

std::vector<std::string> document_names() {
  std::vector<std::string> names = list_of<std::string>(DocumentType::all(), &DocumentType::name);
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.starts_with(kFolder)) continue;
    const std::string_view name = file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kEnding.size());
    if (find_document(name) == nullptr) names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<Json> document_schema(const std::string& name, std::string_view self) {
  if (const DocumentType* document = find_document(name)) return document->schema(self);
  const std::string path = fmt::format("{}{}{}", kFolder, name, kEnding);
  if (const std::string_view file = embedded_file(path); !file.empty()) {
    if (const Checked<LocatedJson> read = LocatedJson::parse(path, std::string(file))) return copy_of(read->root());
  }
  return fail(bad_input(fmt::format("unknown document '{}'", name))
                  .with_hint(did_you_mean(name, document_names()))
                  .with_hint("'rightsize schema' lists the documents"));
}

Result<std::string> schema_text(const std::string& name) {
  if (name.empty()) {
    std::string text = "Documents that commands print with --format json; 'rightsize schema NAME' prints the schema:\n";
    for (const std::string& each : document_names()) {
      const DocumentType* document = find_document(each);
      text += fmt::format("  {:<18}{}\n", each, document == nullptr ? "" : document->meaning());
    }
    return text;
  }
  Json all = Json::object();
  if (name == "commands") {
    for (const std::string& each : command_names()) {
      RIGHTSIZE_TRY(const CommandInfo command, describe_command(each));
      all[each] = describe_flags(command);
    }
    return all.dump() + "\n";
  }
  if (name != "all") {
    RIGHTSIZE_TRY(const Json schema, document_schema(name));
    return schema.dump() + "\n";
  }
  for (const std::string& each : document_names()) {
    RIGHTSIZE_TRY(all[each], document_schema(each));
  }
  return all.dump() + "\n";
}

}  // namespace rightsize::app
