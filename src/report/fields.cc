#include "report/fields.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/format.h"
#include "base/usage_units.h"

namespace rightsize::report {
namespace {

constexpr Dimension kSeconds{.second = 1}, kUsdPerSecond{.second = -1, .usd = 1},
    kUsdPerGpuSecond{.second = -1, .usd = 1, .gpu = -1}, kUsdPerMachineSecond{.second = -1, .usd = 1, .machine = -1},
    kGpuTime{.second = 1, .gpu = 1}, kJoules{.joule = 1};

// The units of a dimension: the first with its words in the name, else the last of the dimension.
struct UnitRule {
  Dimension dimension;
  std::string_view words;
  FieldUnit unit;
};
constexpr UnitRule kUnits[] = {
    {kSeconds, "hours", {"hours", 1, 3600}},
    {kSeconds, "days", {"days", 1, 86400}},
    {kSeconds, "_ms", {"milliseconds", 1e3, 1}},
    {kSeconds, "", {"seconds"}},
    {kUsdPerSecond, "month", {"USD/month", in_seconds(kMonth), 1}},
    {kUsdPerSecond, "year", {"USD/year", in_seconds(kYear), 1}},
    {kUsdPerSecond, "", {"USD/h", 3600, 1}},
    {kUsdPerGpuSecond, "", {"USD/GPU-h", 3600, 1}},
    {kUsdPerMachineSecond, "month", {"USD/month", in_seconds(kMonth), 1}},
    {kUsdPerMachineSecond, "", {"USD/machine-h", 3600, 1}},
    {kGpuTime, "", {"GPU-hours", 1, 3600}},
    {kJoules, "kwh", {"kWh", 1, 3.6e6}},
    {kJoules, "", {"joules"}},
    {Dimension{.usd = 1, .token = -1}, "million", {"USD per 1M tokens", 1e6, 1}},
    {Dimension{.usd = 1, .token = -1}, "", {"USD/token"}},
    {Dimension{.byte = 1}, "", {"bytes", 1, 1, true}},
    {Dimension{.flop = 1}, "", {"FLOP"}},
    {Dimension{.usd = 1}, "", {"USD"}},
    {Dimension{.token = 1}, "", {"tokens"}},
    {Dimension{.request = 1}, "", {"requests"}},
    {Dimension{.gpu = 1}, "", {"GPUs"}},
    {Dimension{.machine = 1}, "", {"machines"}},
    {Dimension{.second = -1, .joule = 1}, "", {"watts"}},
    {Dimension{.byte = 1, .second = -1}, "", {"bytes/s"}},
    {Dimension{.flop = 1, .second = -1}, "", {"FLOP/s"}},
    {Dimension{.byte = -1, .flop = 1}, "", {"FLOP/byte"}},
    {Dimension{.second = -1, .token = 1}, "", {"tokens/s"}},
    {Dimension{.second = -1, .request = 1}, "", {"requests/s"}},
};

FieldUnit unit_of(const FieldType& type, std::string_view name) {
  if (type.item != nullptr) return unit_of(*type.item, name);
  if (type.ratio) return {"ratio"};
  for (const UnitRule& rule : kUnits) {
    if (rule.dimension == type.dimension && name.find(rule.words) != std::string_view::npos) return rule.unit;
  }
  return {};
}

// Builds the JSON of one row.
class JsonSink final : public FieldSink {
 public:
  explicit JsonSink(const FieldRow& row) : row_(row) {}

  void value(const FieldValue& value) override {
    std::visit(
        [this](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>)
            put(json_number(row_.in_unit(held)));
          else
            put(Json(held));
        },
        value);
  }
  void object(const FieldTable& fields, const void* object) override { put(json_of(fields, object)); }
  void begin(bool map) override { open_.push_back({map ? Json::object() : Json::array(), map, std::move(key_)}); }
  void key(std::string_view name) override { key_ = name; }
  void end() override {
    Open done = std::move(open_.back());
    open_.pop_back();
    key_ = std::move(done.key);
    put(std::move(done.made));
  }

  bool is_nothing() const {
    return made.visit([](const auto& held) {
      if constexpr (requires { held.empty(); })
        return held.empty();
      else
        return std::is_same_v<std::decay_t<decltype(held)>, std::nullptr_t>;
    });
  }

  Json made;

 private:
  struct Open {
    Json made;
    bool map;
    std::string key;  // of itself
  };

  void put(Json item) {
    if (open_.empty())
      made = std::move(item);
    else if (open_.back().map)
      open_.back().made[key_] = std::move(item);
    else
      open_.back().made.push_back(std::move(item));
  }

  const FieldRow& row_;
  std::vector<Open> open_;
  std::string key_;
};

// Passes on the objects of a row and, if wanted, its values; lists and maps are skipped.
template <class OnObject, class OnValue>
class FlatSink final : public FieldSink {
 public:
  FlatSink(OnObject on_object, OnValue on_value) : on_object_(on_object), on_value_(on_value) {}

  void value(const FieldValue& value) override {
    if (depth_ == 0) on_value_(value);
  }
  void object(const FieldTable& fields, const void* object) override {
    if (depth_ == 0) on_object_(fields, object);
  }
  void begin(bool) override { ++depth_; }
  void key(std::string_view) override {}
  void end() override { --depth_; }

 private:
  OnObject on_object_;
  OnValue on_value_;
  int depth_ = 0;
};

constexpr auto kIgnoreValue = [](const FieldValue&) {};
constexpr auto kIgnoreObject = [](const FieldTable&, const void*) {};

// How people read a number of this row.
std::string format_quantity(const FieldRow& row, double base) {
  const Dimension& d = row.type.item == nullptr ? row.type.dimension : row.type.item->dimension;
  if (row.unit.name == "ratio") return format_percent(Ratio::fraction(base));
  if (d == Dimension{.byte = 1}) return (base < 0 ? "-" : "") + format_bytes(bytes(std::fabs(base)));
  if (d == Dimension{.byte = 1, .second = -1}) return format_bandwidth(bytes_per_s(base));
  if (d == Dimension{.flop = 1, .second = -1}) return format_flops(flop_per_s(base));
  if (d == Dimension{.second = -1, .joule = 1}) return format_power(watts(base));
  if (d == kSeconds) return format_duration(seconds(base));
  if (d.usd == 1 && d.second == -1 && row.unit.multiply == 3600) return format_usd_per_hour(row.in_unit(base));
  if (d.usd == 1) return format_usd(usd(row.in_unit(base)));
  const double value = row.in_unit(base);
  return value >= 100 ? format_count(std::round(value)) : format_number(value);
}

// A cell of text and its CSV form; entries of a list are joined by commas.
class CellSink final : public FieldSink {
 public:
  explicit CellSink(const FieldRow& row) : row_(row) {}

  void value(const FieldValue& value) override {
    if (std::holds_alternative<std::nullptr_t>(value)) return;
    if (row_.zero_is_unknown && (value == FieldValue(std::int64_t{0}) || value == FieldValue(0.0))) return;
    if (const bool* yes = std::get_if<bool>(&value)) {
      add(*yes ? "yes" : "no", *yes ? "true" : "false");
    } else if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) {
      add(format_count(static_cast<double>(*whole)), std::to_string(*whole));
    } else if (const double* number = std::get_if<double>(&value)) {
      if (std::isfinite(*number)) add(format_quantity(row_, *number), exact_number(row_.in_unit(*number)));
    } else {
      const std::string text(std::get<std::string_view>(value));
      add(text, text);
    }
  }
  void object(const FieldTable&, const void*) override {}
  void begin(bool) override { known_ = true; }
  void key(std::string_view) override {}
  void end() override {}

  Cell take() { return known_ ? std::move(cell_) : unknown_cell(); }

 private:
  void add(const std::string& shown, const std::string& exact) {
    cell_.shown += (cell_.shown.empty() ? "" : ", ") + shown;
    cell_.exact += (cell_.exact.empty() ? "" : ", ") + exact;
    known_ = true;
  }

  const FieldRow& row_;
  Cell cell_;
  bool known_ = false;
};

using Path = std::vector<const FieldRow*>;  // through included tables and objects to the row itself

// The row of a name; empty if no row has it.
Path find_path(const FieldTable& fields, std::string_view name) {
  const std::string_view head = name.substr(0, name.find('.'));
  for (const FieldRow& row : fields.rows()) {
    Path rest;
    if (row.is_included())
      rest = row.inner != nullptr ? find_path(*row.inner, name) : Path{};
    else if (row.name == name)
      return {&row};
    else if (row.name == head && row.inner != nullptr && head.size() < name.size())
      rest = find_path(*row.inner, name.substr(head.size() + 1));
    if (rest.empty()) continue;
    rest.insert(rest.begin(), &row);
    return rest;
  }
  return {};
}

Cell cell_at(const Path& path, std::size_t at, const void* object) {
  const FieldRow& row = *path[at];
  if (at + 1 < path.size()) {
    Cell cell = unknown_cell();
    FlatSink sink([&](const FieldTable&, const void* inside) { cell = cell_at(path, at + 1, inside); }, kIgnoreValue);
    row.read(row, object, sink);
    return cell;
  }
  CellSink sink(row);
  row.read(row, object, sink);
  Cell cell = sink.take();
  const bool unknown = row.zero_is_unknown && cell.exact.empty();
  if (row.show != nullptr && !unknown) cell.shown = row.show(row, object);
  return cell;
}

Json object_schema(const FieldTable& fields, const FieldTable& root, std::string_view self);

// A type's own schema, without the description.
Json type_schema(const FieldRow& row, const FieldType& type, const FieldTable& root, std::string_view self) {
  static constexpr const char* kNames[] = {"boolean", "integer", "number", "string", "object", "array", "object"};
  Json schema;
  if (type.kind == FieldKind::kObject && row.inner == &root) {
    schema["$ref"] = self;
    return schema;
  }
  if (type.kind == FieldKind::kObject) schema = object_schema(*row.inner, root, self);
  const char* name = kNames[static_cast<int>(type.kind)];
  schema["type"] = type.nullable ? Json::array({name, "null"}) : Json(name);
  if (type.kind == FieldKind::kList) schema["items"] = type_schema(row, *type.item, root, self);
  if (type.kind == FieldKind::kMap) schema["additionalProperties"] = type_schema(row, *type.item, root, self);
  if (type.kind == FieldKind::kNumber && !row.unit.name.empty()) schema["x-unit"] = row.unit.name;
  if (type.kind == FieldKind::kText && !row.choices.empty()) {
    schema["enum"] = Json(row.choices);
    if (type.nullable) schema["enum"].push_back(nullptr);
  }
  return schema;
}

struct Members {
  Json properties = Json::object();
  std::vector<std::string_view> required;
  bool others = false;  // has members with names that are data
};

void merge(Json& known, const Json& other);

// Objects have the members of both; only those that both require are required.
void merge_members(Json& known, const Json& other) {
  const Json* properties = other.find("properties");
  if (properties == nullptr || known.find("properties") == nullptr) return;
  properties->visit([&](const auto& held) {
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Json::Object>) {
      for (const auto& [name, schema] : held) {
        Json& mine = known["properties"];
        if (mine.find(name) != nullptr)
          merge(mine[name], schema);
        else
          mine[name] = schema;
      }
    }
  });
  const Json *required = known.find("required"), *theirs = other.find("required");
  if (required == nullptr || theirs == nullptr) return;
  Json both = Json::array();
  for (const Json& name : *required->items()) {
    if (std::find(theirs->items()->begin(), theirs->items()->end(), name) != theirs->items()->end())
      both.push_back(name);
  }
  known["required"] = std::move(both);
}

// A name may be in several included tables, and a document has one of them: the schema then allows either type.
void merge(Json& known, const Json& other) {
  const std::string* said = known.find("description") ? known.find("description")->text() : nullptr;
  const std::string* more = other.find("description") ? other.find("description")->text() : nullptr;
  if (said != nullptr && more != nullptr && said->find(*more) == std::string::npos)
    known["description"] = *said + "; or " + *more;
  if (const Json* items = other.find("items"); items != nullptr && known.find("items") != nullptr)
    merge(known["items"], *items);
  merge_members(known, other);
  const Json *type = known.find("type"), *another = other.find("type");
  if (type == nullptr || another == nullptr || *type == *another) return;
  Json both = Json::array();
  for (const Json* each : {type, another}) {
    const Json::Array names = each->items() != nullptr ? *each->items() : Json::Array{*each};
    for (const Json& name : names) {
      if (std::find(both.items()->begin(), both.items()->end(), name) == both.items()->end()) both.push_back(name);
    }
  }
  known["type"] = std::move(both);
}

void add_properties(const FieldTable& fields, bool always, const FieldTable& root, std::string_view self,
                    Members& members) {
  for (const FieldRow& row : fields.rows()) {
    if (row.table_only) continue;
    if (row.is_included()) {
      members.others |= row.inner == nullptr;
      if (row.inner != nullptr) add_properties(*row.inner, always && !row.type.nullable, root, self, members);
      continue;
    }
    Json schema = type_schema(row, row.type, root, self);
    if (!row.meaning.empty()) schema["description"] = row.meaning;
    if (members.properties.find(row.name) != nullptr)
      merge(members.properties[row.name], schema);
    else
      members.properties[row.name] = std::move(schema);
    if (always && !row.optional) members.required.push_back(row.name);
  }
}

Json object_schema(const FieldTable& fields, const FieldTable& root, std::string_view self) {
  Members members;
  add_properties(fields, true, root, self, members);
  Json schema = {
      {"type", "object"}, {"properties", std::move(members.properties)}, {"required", Json(members.required)}};
  if (members.others) schema["additionalProperties"] = true;
  return schema;
}

std::vector<const DocumentType*>& all_documents() {
  static std::vector<const DocumentType*> all;
  return all;
}

}  // namespace

FieldRow described(std::string_view name, std::string_view title, std::string_view meaning, const FieldTable* inner) {
  FieldRow row;
  row.optional = name.ends_with('?');
  row.name = row.optional ? name.substr(0, name.size() - 1) : name;
  row.title = title, row.meaning = meaning, row.inner = inner;
  return row;
}

void set_type(FieldRow& row, const FieldType& type) {
  row.type = type;
  row.unit = unit_of(type, row.name);
  if (row.optional) row.type.nullable = false;
}

void add_members(Json& to, const FieldTable& fields, const void* object) {
  for (const FieldRow& row : fields.rows()) {
    if (row.table_only) continue;
    if (row.inner != nullptr && row.is_included()) {
      FlatSink sink([&](const FieldTable& inner, const void* part) { add_members(to, inner, part); }, kIgnoreValue);
      row.read(row, object, sink);
      continue;
    }
    JsonSink sink(row);
    row.read(row, object, sink);
    if (row.is_included())
      sink.made.visit([&](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Json::Object>) {
          for (const auto& [name, value] : held) to[name] = value;
        }
      });
    else if (!row.optional || !sink.is_nothing())
      to[row.name] = std::move(sink.made);
  }
}

Json json_of(const FieldTable& fields, const void* object) {
  Json made = Json::object();
  add_members(made, fields, object);
  return made;
}

void read_scalars(const FieldTable& fields, const void* object, FieldReader& reader) {
  for (const FieldRow& row : fields.rows()) {
    if (row.is_included() && row.inner != nullptr) {
      FlatSink sink([&](const FieldTable& inner, const void* part) { read_scalars(inner, part, reader); },
                    kIgnoreValue);
      row.read(row, object, sink);
    } else if (!row.table_only && row.type.item == nullptr && row.inner == nullptr) {
      FlatSink sink(kIgnoreObject, [&](const FieldValue& value) {
        const auto* text = std::get_if<std::string_view>(&value);
        if (row.optional && (std::holds_alternative<std::nullptr_t>(value) || (text != nullptr && text->empty())))
          return;
        const double* number = std::get_if<double>(&value);
        if (number == nullptr)
          reader.add(row.name, value);
        else
          reader.add(row.name, std::isfinite(*number) ? FieldValue(row.in_unit(*number)) : FieldValue(nullptr));
      });
      row.read(row, object, sink);
    }
  }
}

Table table_of(const FieldTable& fields, const std::vector<const void*>& objects,
               const std::vector<ColumnOf>& columns) {
  Table table;
  std::vector<Path> paths;
  for (const ColumnOf& column : columns) {
    paths.push_back(find_path(fields, column.field));
    if (paths.back().empty()) {
      fmt::print(stderr, "no field is named '{}'\n", column.field);
      std::abort();
    }
    const FieldRow& row = *paths.back().back();
    std::string name(column.name.empty() ? column.field : column.name);
    std::ranges::replace(name, '.', '_');
    const std::string_view title = !column.title.empty() ? column.title : row.title.empty() ? row.name : row.title;
    const bool number = row.type.kind == FieldKind::kInteger || row.type.kind == FieldKind::kNumber;
    table.columns.push_back(
        {std::string(title), std::move(name), number ? Align::kRight : Align::kLeft, column.widest, column.spare});
  }
  for (const void* object : objects) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Path& path : paths) cells.push_back(cell_at(path, 0, object));
  }
  return table;
}

DocumentType::DocumentType(std::string_view name, std::string_view meaning, const FieldTable& fields)
    : name_(name), meaning_(meaning), id_(fmt::format("rightsize/{}/1", name)), fields_(fields) {
  all_documents().push_back(this);
}
DocumentType::~DocumentType() { std::erase(all_documents(), this); }

const std::vector<const DocumentType*>& DocumentType::all() { return all_documents(); }

Json DocumentType::write(const void* object) const {
  Json made = {{"schema", id()}};
  add_members(made, fields_, object);
  return made;
}

void DocumentType::read(const void* object, FieldReader& reader) const {
  reader.add("schema", std::string_view(id_));
  read_scalars(fields_, object, reader);
}

Json DocumentType::schema(std::string_view self) const {
  Json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"$id", fmt::format("urn:rightsize:{}:1", name_)},
      {"title", id()},
      {"description",
       fmt::format("{}. Numbers are plain SI in the unit that the field's name ends with; a value that is not "
                   "known is absent or null. Documents may have fields that are not listed here.",
                   meaning_)}};
  Members members;
  members.properties["schema"]["const"] = id();
  members.required.push_back("schema");
  add_properties(fields_, true, fields_, self, members);
  schema["type"] = "object";
  schema["properties"] = std::move(members.properties);
  schema["required"] = Json(members.required);
  if (members.others) schema["additionalProperties"] = true;
  return schema;
}

}  // namespace rightsize::report
