// Describes a result once: one row per field. JSON, CSV, text tables and JSON schemas are derived from the rows.
//
//   struct Offer { std::string gpu; int count; UsdPerSecond price; std::optional<Seconds> start; };
//
//   const Fields<Offer> kOfferFields = {
//       {"gpu", "GPU", "the GPU by its catalogue name", &Offer::gpu},
//       {"gpus", "GPUs", "GPUs of one machine", &Offer::count},
//       {"usd_per_hour", "$/h", "price of the machine", &Offer::price},
//       {"startup_seconds?", "time until the machine answers", &Offer::start},
//   };
//   struct Answer { std::vector<Offer> offers; };
//   const Fields<Answer> kAnswerFields = {{"offers", "machines for rent", kOfferFields, &Answer::offers}};
//   const Document<Answer> kOffersDocument("offers", "Machines for rent", kAnswerFields);
//
//   Answer answer;
//   Report report;
//   report.document = kOffersDocument.of(answer);  // {"schema": "rightsize/offers/1", "offers": [...]}
//   report.blocks.emplace_back(table_of(kOfferFields, answer.offers, {"gpu", "gpus", spare("usd_per_hour")}));
//
// A row is {name, title, meaning, getter}. The name is the key in JSON and CSV and ends in its unit. The title heads a
// column of a text table; omit it for fields that no table shows. The meaning is the description in the schema. The
// getter is a member pointer or a lambda without captures. Its return type determines the rest:
//
//   bool, integers, double, text, Date       the value itself; a double that is not finite becomes null
//   enums                                    name_of(value), found by argument-dependent lookup
//   quantities (base/units.h), Ratio         a number in the unit the name ends with: "hours" and "step_seconds" both
//                                            take Seconds, "usd_per_month" takes UsdPerSecond; without a unit in the
//                                            name the SI unit, and dollars per hour for prices; bytes are rounded
//   std::optional, pointers                  null if empty
//   vectors and other ranges                 a list
//   ranges of pairs that begin with text     an object whose keys are data
//
// A '?' after the name omits the member if it would be null, an empty list, an empty object or empty text.
// when(condition, value) and positive(value) return such optionals.
//
// A row for an object names the table of its type: {name, meaning, fields, getter}. The getter determines whether it is
// one object, an optional one, a list or a map of them:
//
//   {"commitments?", "what reserved terms would cost", kCommitmentFields, &Plan::commitments},
//
// {fields, getter} adds the members of another table to the same object, for parts that only some results have:
//
//   {kTrainingFields, [](const View& v) { return v.training; }},  // a pointer or an optional: no members if empty
//
// A row without a name and with a getter that returns a map adds the entries of the map to the same object.
//
// A getter that needs more than the result (the request, a rank) takes a small view struct that contains both. If the
// view has an operator const Plan&(), its table can still use &Plan::cost. A list getter returns std::vector<View> by
// value. Getters may return views and temporaries, which are read immediately, and std::cref(v.plan.parts) to avoid a
// copy.
//
// More arguments may follow the getter: a function that formats the value (or the whole object) for people;
// one_of({"train", "serve"}), which lists the choices in the schema; kTableOnly for a column that is not in the JSON;
// kZeroIsUnknown if tables show 0 as unknown.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/date.h"
#include "base/json.h"
#include "base/units.h"
#include "report/report.h"

namespace rightsize::report {

class FieldTable;

enum class FieldKind : unsigned char { kBool, kInteger, kNumber, kText, kObject, kList, kMap };

// The return type of a getter, as data.
struct FieldType {
  FieldKind kind = FieldKind::kText;
  bool nullable = false;
  bool ratio = false;  // a share of a whole, 0 to 1
  Dimension dimension = {};
  const FieldType* item = nullptr;  // of a list or a map
};

// How a quantity is written as a number: in base units, times `multiply`, divided by `divide`.
struct FieldUnit {
  std::string_view name;  // "seconds", "USD/h"; empty: a plain number
  double multiply = 1, divide = 1;
  bool whole = false;  // bytes: rounded
};

// One value as it was read. Quantities are in their base unit; text is valid until the call returns.
using FieldValue = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string_view>;

// Receives the values of a getter.
class FieldSink {
 public:
  virtual void value(const FieldValue& value) = 0;
  virtual void object(const FieldTable& fields, const void* object) = 0;
  virtual void begin(bool map) = 0;  // a list or a map, until end()
  virtual void key(std::string_view name) = 0;
  virtual void end() = 0;

 protected:
  ~FieldSink() = default;
};

// One row without its type; Field<T> makes it.
struct FieldRow {
  // A getter or formatter: a lambda without captures, a function or a member pointer.
  struct Function {
    alignas(void*) unsigned char stored[2 * sizeof(void*)] = {};
    template <class F>
    void set(F f) {
      static_assert(sizeof(F) <= sizeof(stored) && std::is_trivially_copyable_v<F>, "a getter may not capture");
      new (stored) F(f);
    }
    template <class F>
    const F& as() const {
      return *std::launder(reinterpret_cast<const F*>(stored));
    }
  };

  std::string_view name, title, meaning;
  FieldType type;
  FieldUnit unit;
  std::vector<std::string_view> choices;
  const FieldTable* inner = nullptr;  // of objects, and of lists and maps of them
  bool optional = false;              // omitted if there is no value
  bool table_only = false;            // not in the JSON
  bool zero_is_unknown = false;       // in tables
  Function getter, formatter;
  void (*read)(const FieldRow& row, const void* object, FieldSink& sink) = nullptr;
  std::string (*show)(const FieldRow& row, const void* object) = nullptr;  // null: the format of its unit

  // The members of `inner` belong to the object that has this row.
  bool is_included() const { return name.empty(); }
  // A quantity in the row's unit.
  double in_unit(double base) const {
    const double value = base * unit.multiply / unit.divide;
    return unit.whole ? std::round(value) : value;
  }
};

class FieldTable {
 public:
  explicit FieldTable(std::vector<FieldRow> rows) : rows_(std::move(rows)) {}
  const std::vector<FieldRow>& rows() const { return rows_; }

 private:
  std::vector<FieldRow> rows_;
};

// Arguments that may follow a getter.
struct FieldChoices {
  std::vector<std::string_view> names;
};
inline FieldChoices one_of(std::vector<std::string_view> names) { return {std::move(names)}; }
struct TableOnly {};
inline constexpr TableOnly kTableOnly;
struct ZeroIsUnknown {};
inline constexpr ZeroIsUnknown kZeroIsUnknown;

// The value if the condition holds; otherwise the member is null or omitted.
template <class Value>
std::optional<Value> when(bool condition, Value value) {
  return condition ? std::optional<Value>(std::move(value)) : std::nullopt;
}
template <class Value>
std::optional<Value> positive(Value value) {
  return when(value > Value{}, value);
}

namespace field_detail {

template <class X>
concept TextLike = std::is_convertible_v<const X&, std::string_view>;
template <class X>
concept Nullable = !TextLike<X> && requires(const X& x) {
  *x;
  static_cast<bool>(x);
};
template <class X>
concept Range = !TextLike<X> && requires(const X& x) {
  x.begin();
  x.end();
};
template <class X>
concept Pair = requires(const X& x) {
  x.first;
  x.second;
}
&&(TextLike<decltype(X::first)> || std::is_enum_v<decltype(X::first)>);

template <class X>
using Plain = std::remove_cvref_t<X>;
template <class X>
using Pointee = Plain<decltype(*std::declval<const X&>())>;
template <class X>
using Item = Plain<decltype(*std::declval<const X&>().begin())>;

template <class X>
struct IsReference : std::false_type {};
template <class X>
struct IsReference<std::reference_wrapper<X>> : std::true_type {
  using Target = Plain<X>;
};

template <class X>
struct IsQuantity : std::false_type {};
template <Dimension D>
struct IsQuantity<Quantity<D>> : std::true_type {
  static constexpr Dimension kDimension = D;
};

// The type inside optionals, lists and maps.
template <class X>
auto innermost() {
  if constexpr (IsReference<X>::value) {
    return innermost<typename IsReference<X>::Target>();
  } else if constexpr (Nullable<X>) {
    return innermost<Pointee<X>>();
  } else if constexpr (Range<X>) {
    if constexpr (Pair<Item<X>>)
      return innermost<Plain<decltype(Item<X>::second)>>();
    else
      return innermost<Item<X>>();
  } else {
    return std::type_identity<X>{};
  }
}

template <class X>
constexpr FieldType type_of();
template <class X>
inline constexpr FieldType kTypeOf = type_of<X>();

template <class X>
constexpr FieldType type_of() {
  FieldType type;
  if constexpr (IsReference<X>::value) {
    type = type_of<typename IsReference<X>::Target>();
  } else if constexpr (TextLike<X> || std::is_enum_v<X> || std::same_as<X, Date>) {
    type.kind = FieldKind::kText;
  } else if constexpr (std::same_as<X, bool>) {
    type.kind = FieldKind::kBool;
  } else if constexpr (std::integral<X>) {
    type.kind = FieldKind::kInteger;
  } else if constexpr (std::floating_point<X>) {
    type.kind = FieldKind::kNumber;
  } else if constexpr (IsQuantity<X>::value) {
    type.kind = FieldKind::kNumber;
    type.dimension = IsQuantity<X>::kDimension;
  } else if constexpr (std::same_as<X, Ratio>) {
    type.kind = FieldKind::kNumber;
    type.ratio = true;
  } else if constexpr (Nullable<X>) {
    type = type_of<Pointee<X>>();
    type.nullable = true;
  } else if constexpr (Range<X>) {
    if constexpr (Pair<Item<X>>) {
      type.kind = FieldKind::kMap;
      type.item = &kTypeOf<Plain<decltype(Item<X>::second)>>;
    } else {
      type.kind = FieldKind::kList;
      type.item = &kTypeOf<Item<X>>;
    }
  } else {
    type.kind = FieldKind::kObject;
  }
  return type;
}

template <class X>
std::string_view text_of(const X& x) {
  if constexpr (std::is_enum_v<X>)
    return name_of(x);
  else
    return x;
}

// Passes a value to the sink, lists and maps entry by entry.
template <class X>
void give(const X& x, const FieldTable* inner, FieldSink& sink) {
  if constexpr (IsReference<X>::value) {
    give(x.get(), inner, sink);
  } else if constexpr (TextLike<X> || std::is_enum_v<X>) {
    sink.value(text_of(x));
  } else if constexpr (std::same_as<X, Date>) {
    const std::string text = format_date(x);
    sink.value(std::string_view(text));
  } else if constexpr (std::same_as<X, bool>) {
    sink.value(x);
  } else if constexpr (std::integral<X>) {
    sink.value(static_cast<std::int64_t>(x));
  } else if constexpr (std::floating_point<X>) {
    sink.value(static_cast<double>(x));
  } else if constexpr (IsQuantity<X>::value) {
    sink.value(x.in_base());
  } else if constexpr (std::same_as<X, Ratio>) {
    sink.value(x.fraction());
  } else if constexpr (Nullable<X>) {
    if (x)
      give(*x, inner, sink);
    else
      sink.value(nullptr);
  } else if constexpr (Range<X>) {
    sink.begin(Pair<Item<X>>);
    for (const auto& item : x) {
      if constexpr (Pair<Item<X>>) {
        sink.key(text_of(item.first));
        give(item.second, inner, sink);
      } else {
        give(item, inner, sink);
      }
    }
    sink.end();
  } else {
    sink.object(*inner, &x);
  }
}

// The class of a member pointer.
template <class Getter>
struct MemberOwner {
  using Class = void;
};
template <class Member, class C>
struct MemberOwner<Member C::*> {
  using Class = C;
};

// The argument of a getter: the object, or a type that the object converts to.
template <class Getter, class T>
using Taken = std::conditional_t<std::invocable<Getter, const T&>, T, typename MemberOwner<Getter>::Class>;
template <class Getter, class T>
concept GetterOf = std::invocable<Getter, const T&> ||
    (std::is_member_pointer_v<Getter>&& std::convertible_to<const T&, const Taken<Getter, T>&>);

template <class T, class Getter>
decltype(auto) get(const Getter& getter, const void* object) {
  return std::invoke(getter, static_cast<const Taken<Getter, T>&>(*static_cast<const T*>(object)));
}

// The value as the formatter writes it.
template <class X, class Show>
std::string show_value(const X& x, const Show& show) {
  if constexpr (Nullable<X> && !std::invocable<Show, const X&>)
    return x ? show_value(*x, show) : "-";
  else
    return std::string(show(x));
}

}  // namespace field_detail

template <class T>
class Fields;

// A row without its getter. The '?' and the unit come from the name.
FieldRow described(std::string_view name, std::string_view title, std::string_view meaning, const FieldTable* inner);
void set_type(FieldRow& row, const FieldType& type);

// One row of a table; see the top of this file.
template <class T>
class Field {
 public:
  template <class Getter, class... More>
  requires field_detail::GetterOf<Getter, T> Field(std::string_view name, std::string_view meaning, Getter get,
                                                   More... more)
      : Field(name, {}, meaning, get, std::move(more)...) {}

  template <class Getter, class... More>
  requires field_detail::GetterOf<Getter, T> Field(std::string_view name, std::string_view title,
                                                   std::string_view meaning, Getter get, More... more)
      : row_(described(name, title, meaning, nullptr)) {
    set_getter(get);
    (add(get, std::move(more)), ...);
  }

  template <class U, class Getter>
  requires field_detail::GetterOf<Getter, T> Field(std::string_view name, std::string_view meaning,
                                                   const Fields<U>& inner, Getter get)
      : row_(described(name, {}, meaning, &inner)) {
    using Inner = typename decltype(field_detail::innermost<Got<Getter>>())::type;
    static_assert(std::same_as<Inner, U>, "the getter returns another type than the table describes");
    set_getter(get);
  }

  template <class U, class Getter>
  requires field_detail::GetterOf<Getter, T> Field(const Fields<U>& included, Getter get)
      : Field({}, {}, included, get) {}

  const FieldRow& row() const { return row_; }

 private:
  template <class Getter>
  using Got = field_detail::Plain<decltype(field_detail::get<T>(std::declval<Getter>(), nullptr))>;

  template <class Getter>
  void set_getter(Getter get) {
    row_.getter.set(get);
    row_.read = [](const FieldRow& row, const void* object, FieldSink& sink) {
      field_detail::give<Got<Getter>>(field_detail::get<T>(row.getter.as<Getter>(), object), row.inner, sink);
    };
    set_type(row_, field_detail::kTypeOf<Got<Getter>>);
  }

  template <class Getter>
  void add(Getter, FieldChoices given) {
    row_.choices = std::move(given.names);
  }
  template <class Getter>
  void add(Getter, TableOnly) {
    row_.table_only = true;
  }
  template <class Getter>
  void add(Getter, ZeroIsUnknown) {
    row_.zero_is_unknown = true;
  }
  template <class Getter, class Show>
  void add(Getter, Show show) {
    row_.formatter.set(show);
    row_.show = [](const FieldRow& row, const void* object) -> std::string {
      const Show& formatter = row.formatter.as<Show>();
      if constexpr (std::invocable<Show, const T&>)
        return std::string(formatter(*static_cast<const T*>(object)));
      else
        return field_detail::show_value<Got<Getter>>(field_detail::get<T>(row.getter.as<Getter>(), object), formatter);
    };
  }

  FieldRow row_;
};

template <class T>
class Fields : public FieldTable {
 public:
  Fields(std::initializer_list<Field<T>> fields) : FieldTable(rows_of(fields)) {}

 private:
  static std::vector<FieldRow> rows_of(std::initializer_list<Field<T>> fields) {
    std::vector<FieldRow> rows;
    rows.reserve(fields.size());
    for (const Field<T>& field : fields) rows.push_back(field.row());
    return rows;
  }
};

// The members of one object as JSON, in the order of the rows.
Json json_of(const FieldTable& fields, const void* object);
void add_members(Json& to, const FieldTable& fields, const void* object);
template <class T>
Json json_of(const Fields<T>& fields, const T& object) {
  return json_of(static_cast<const FieldTable&>(fields), &object);
}

// Receives the scalar members of an object in order, for callers that read many results without their lists.
class FieldReader {
 public:
  virtual ~FieldReader() = default;
  // Numbers are in the row's unit.
  virtual void add(std::string_view name, const FieldValue& value) = 0;
};
void read_scalars(const FieldTable& fields, const void* object, FieldReader& reader);

// A column of a text table: the name of a field, "spot.low" for one inside an object.
struct ColumnOf {
  ColumnOf(const char* field_name) : field(field_name) {}
  std::string_view field, name = {};  // `name` in CSV instead of the row's
  std::string title = {};             // the same for people; often made for one answer, so the column keeps it
  std::size_t widest = 0;
  bool spare = false;
};
// Omitted first if the terminal is too narrow.
inline ColumnOf spare(ColumnOf column) { return column.spare = true, column; }
// Text output cuts longer cells.
inline ColumnOf cut(ColumnOf column, std::size_t widest) { return column.widest = widest, column; }
// Uses another name in CSV and another title for people.
inline ColumnOf renamed(ColumnOf column, std::string_view csv_name, std::string title = {}) {
  return column.name = csv_name, column.title = std::move(title), column;
}

// A table with one row per object. Aborts if a column names a field that does not exist.
Table table_of(const FieldTable& fields, const std::vector<const void*>& objects, const std::vector<ColumnOf>& columns);
template <class T, class Objects>
Table table_of(const Fields<T>& fields, const Objects& objects, const std::vector<ColumnOf>& columns) {
  std::vector<const void*> addresses;
  for (const auto& object : objects) {
    if constexpr (std::is_pointer_v<field_detail::Plain<decltype(object)>>)
      addresses.push_back(static_cast<const T*>(object));
    else
      addresses.push_back(static_cast<const T*>(&object));
  }
  return table_of(static_cast<const FieldTable&>(fields), addresses, columns);
}

// A document that a command prints with --format json. Its first member is "schema": "rightsize/NAME/1". Every document
// that the program defines is in all(), from which `schema`, the OpenAPI file and the Python classes are generated.
class DocumentType {
 public:
  DocumentType(const DocumentType&) = delete;
  DocumentType& operator=(const DocumentType&) = delete;
  static const std::vector<const DocumentType*>& all();

  std::string_view name() const { return name_; }
  std::string_view meaning() const { return meaning_; }
  const std::string& id() const { return id_; }
  // The JSON schema, draft 7. References to the document itself are written as `self`.
  Json schema(std::string_view self = "#") const;

 protected:
  DocumentType(std::string_view name, std::string_view meaning, const FieldTable& fields);
  ~DocumentType();
  Json write(const void* object) const;
  void read(const void* object, FieldReader& reader) const;

 private:
  std::string_view name_, meaning_;
  std::string id_;
  const FieldTable& fields_;
};

template <class T>
class Document : public DocumentType {
 public:
  Document(std::string_view name, std::string_view meaning, const Fields<T>& fields)
      : DocumentType(name, meaning, fields) {}

  Json of(const T& object) const { return write(&object); }
  // Passes on its scalar members without allocating.
  void read_scalars(const T& object, FieldReader& reader) const { read(&object, reader); }
};

}  // namespace rightsize::report
