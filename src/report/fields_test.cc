#include "report/fields.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/usage_units.h"

namespace rightsize::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The example in the header.
struct Offer {
  std::string gpu;
  int count = 1;
  UsdPerSecond price;
  std::optional<Seconds> start = {};
};
struct Answer {
  std::vector<Offer> offers;
};

const Fields<Offer> kOfferFields = {
    {"gpu", "GPU", "the GPU by its catalogue name", &Offer::gpu},
    {"gpus", "GPUs", "GPUs of one machine", &Offer::count},
    {"usd_per_hour", "$/h", "price of the machine", &Offer::price},
    {"startup_seconds?", "time until the machine answers", &Offer::start},
};
const Fields<Answer> kAnswerFields = {
    {"offers", "the machines, cheapest first", kOfferFields, &Answer::offers},
};
const Document<Answer> kOffersDocument("offers", "Machines for rent", kAnswerFields);

const Answer kAnswer{{{"l4", 1, usd_per_hour(0.7), {}}, {"h100-sxm", 8, usd_per_hour(24), seconds(90)}}};

TEST(Fields, TheExampleInTheHeaderIsADocument) {
  const Json expected = {
      {"schema", "rightsize/offers/1"},
      {"offers", Json::array({{{"gpu", "l4"}, {"gpus", 1}, {"usd_per_hour", 0.7}},
                              {{"gpu", "h100-sxm"}, {"gpus", 8}, {"usd_per_hour", 24}, {"startup_seconds", 90}}})}};
  EXPECT_EQ(kOffersDocument.of(kAnswer).dump(), expected.dump());
}

TEST(Fields, TheExampleInTheHeaderIsATable) {
  const Table table = table_of(kOfferFields, kAnswer.offers, {"gpu", "gpus", spare("usd_per_hour"), "startup_seconds"});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.columns[2].title, "$/h");
  EXPECT_EQ(table.columns[2].name, "usd_per_hour");
  EXPECT_EQ(table.columns[2].align, Align::kRight);
  EXPECT_TRUE(table.columns[2].spare);
  EXPECT_EQ(table.columns[3].title, "startup_seconds");  // no title given
  EXPECT_EQ(table.rows[0][2].shown, "$0.700");
  EXPECT_EQ(table.rows[0][2].exact, "0.7");
  EXPECT_EQ(table.rows[0][3].shown, "-");
  EXPECT_EQ(table.rows[0][3].exact, "");
  EXPECT_EQ(table.rows[1][3].shown, "1 min 30 s");
  EXPECT_EQ(table.rows[1][3].exact, "90");
}

TEST(Fields, TheExampleInTheHeaderHasASchema) {
  const Json schema = kOffersDocument.schema();
  const Json& offers = *schema.find("properties")->find("offers");
  EXPECT_EQ(*offers.find("type"), Json("array"));
  EXPECT_EQ(*offers.find("description"), Json("the machines, cheapest first"));
  const Json& item = *offers.find("items");
  EXPECT_EQ(*item.find("required"), Json(std::vector<std::string>{"gpu", "gpus", "usd_per_hour"}));
  EXPECT_EQ(item.find("properties")->find("usd_per_hour")->dump(),
            Json({{"type", "number"}, {"x-unit", "USD/h"}, {"description", "price of the machine"}}).dump());
  EXPECT_EQ(*item.find("properties")->find("gpus")->find("type"), Json("integer"));
}

enum class Colour { kRed, kGreen };
std::string_view name_of(Colour colour) { return colour == Colour::kRed ? "red" : "green"; }

struct Part {
  std::string name;
  Ratio share;
};
struct Everything {
  bool yes = true;
  Colour colour = Colour::kGreen;
  double number = 0;
  Ratio share = Ratio::percent(25);
  Seconds time = hours(36);
  UsdPerSecond rate = usd_per_month(730);
  GpuTime used = gpu_hours(3);
  std::optional<Date> date = Date{0};
  std::string empty;
  std::vector<std::string> words = {"a", "b"};
  std::map<std::string, Bytes> sizes = {{"x", gib(1)}, {"y", bytes(3)}};
  std::optional<Part> part = Part{"p", Ratio::fraction(1)};
  const Part* other = nullptr;
};

const Fields<Part> kPartFields = {
    {"name", "the name", &Part::name},
    {"share", "share of the whole", &Part::share, [](Ratio share) { return share.fraction() == 1 ? "all" : "some"; }},
};
const Fields<Everything> kEverythingFields = {
    {"yes", "a flag", &Everything::yes},
    {"colour", "a choice", &Everything::colour, one_of({"red", "green"})},
    {"number", "a plain number", &Everything::number},
    {"share", "a share", &Everything::share},
    {"hours", "the same time in hours", &Everything::time},
    {"time_days", "... in days", &Everything::time},
    {"time_seconds", "... in seconds", &Everything::time},
    {"usd_per_month", "a rate", &Everything::rate},
    {"usd_per_hour", "the same rate", &Everything::rate},
    {"gpu_hours", "GPU time", &Everything::used},
    {"date", "a day", &Everything::date},
    {"empty", "empty text stays", &Everything::empty},
    {"empty_too?", "empty text is left out", &Everything::empty},
    {"words", "a list", &Everything::words},
    {"sizes_bytes", "keys are data", &Everything::sizes},
    {"part", "an object", kPartFields, &Everything::part},
    {"other", "an object that may be null", kPartFields, &Everything::other},
    {"another?", "an object that may be left out", kPartFields, &Everything::other},
    {"half?", "under a condition", [](const Everything& e) { return when(e.number > 0, e.number / 2); }},
    {"tenth?", "where positive", [](const Everything& e) { return positive(e.number / 10); }},
    {kPartFields, [](const Everything& e) { return e.other; }},
    {"", "entries of a map",
     [](const Everything&) {
       return std::map<std::string, int>{{"more", 1}};
     }},
    {"text", "column", "for tables", [](const Everything& e) { return e.words.size(); }, kTableOnly},
};

TEST(Fields, EveryTypeIsWrittenInTheUnitOfItsName) {
  const Json expected = {{"yes", true},
                         {"colour", "green"},
                         {"number", 0},
                         {"share", 0.25},
                         {"hours", 36},
                         {"time_days", 1.5},
                         {"time_seconds", 129600},
                         {"usd_per_month", 730},
                         {"usd_per_hour", 1},
                         {"gpu_hours", 3},
                         {"date", "1970-01-01"},
                         {"empty", ""},
                         {"words", Json::array({"a", "b"})},
                         {"sizes_bytes", {{"x", 1073741824}, {"y", 3}}},
                         {"part", {{"name", "p"}, {"share", 1}}},
                         {"other", nullptr},
                         {"more", 1}};
  EXPECT_EQ(json_of(kEverythingFields, Everything{}).dump(), expected.dump());
}

TEST(Fields, IncludedMembersAndConditionsAppearWhenTheyApply) {
  const Part part{"q", Ratio::fraction(0.5)};
  Everything e;
  e.number = 4;
  e.other = &part;
  const Json made = json_of(kEverythingFields, e);
  EXPECT_EQ(*made.find("half"), Json(2));
  EXPECT_EQ(*made.find("tenth"), Json(0.4));
  EXPECT_EQ(*made.find("name"), Json("q"));
  EXPECT_EQ(made.find("text"), nullptr);
  EXPECT_EQ(made.find("another")->dump(), Json({{"name", "q"}, {"share", 0.5}}).dump());
}

TEST(Fields, NumbersThatAreNotFiniteAreNull) {
  Everything e;
  e.number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(*json_of(kEverythingFields, e).find("number"), Json(nullptr));
}

TEST(Fields, TablesReachInsideObjectsAndIncludedTables) {
  const Part part{"q", Ratio::fraction(0.5)};
  Everything e;
  e.other = &part;
  const Table table =
      table_of(kEverythingFields, std::vector<const Everything*>{&e},
               {"part.share", "name", "text", cut("words", 9), renamed("hours", "time", "duration"), "yes", "share"});
  std::vector<std::string> shown;
  for (const Cell& cell : table.rows[0]) shown.push_back(cell.shown);
  EXPECT_THAT(shown, ElementsAre("all", "q", "2", "a, b", "1 d 12 h", "yes", "25 %"));
  EXPECT_EQ(table.columns[0].name, "part_share");
  EXPECT_EQ(table.columns[4].name, "time");
  EXPECT_EQ(table.columns[4].title, "duration");
  EXPECT_EQ(table.rows[0][4].exact, "36");
  EXPECT_EQ(table.columns[3].widest, 9u);
}

TEST(Fields, SchemasHaveTypesUnitsChoicesAndRequiredFields) {
  const Json schema = Document<Everything>("everything", "All types", kEverythingFields).schema();
  const Json& properties = *schema.find("properties");
  EXPECT_EQ(*properties.find("schema")->find("const"), Json("rightsize/everything/1"));
  EXPECT_EQ(*properties.find("colour")->find("enum"), Json(std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(*properties.find("date")->find("type"), Json(std::vector<std::string>{"string", "null"}));
  EXPECT_EQ(*properties.find("hours")->find("x-unit"), Json("hours"));
  EXPECT_EQ(*properties.find("usd_per_month")->find("x-unit"), Json("USD/month"));
  EXPECT_EQ(*properties.find("sizes_bytes")->find("additionalProperties")->find("x-unit"), Json("bytes"));
  EXPECT_EQ(*properties.find("another")->find("type"), Json("object"));
  EXPECT_EQ(properties.find("text"), nullptr);
  const std::string required = schema.find("required")->dump();
  EXPECT_THAT(required, HasSubstr("\"other\""));
  EXPECT_THAT(required, Not(HasSubstr("another")));
  EXPECT_THAT(required, Not(HasSubstr("\"name\"")));  // belongs to a part that only some results have
}

// A view of an offer with additional data.
struct RankedOffer {
  const Offer& offer;
  int rank;
  operator const Offer&() const { return offer; }
};
const Fields<RankedOffer> kRankedFields = {
    {"rank", "rank", "place in the list", &RankedOffer::rank},
    {"gpu", "GPU", "the GPU", &Offer::gpu},
};

TEST(Fields, AViewPassesOnTheMembersOfItsObject) {
  EXPECT_EQ(json_of(kRankedFields, RankedOffer{kAnswer.offers[1], 2}).dump(),
            Json({{"rank", 2}, {"gpu", "h100-sxm"}}).dump());
}

struct Tree {
  std::vector<Tree> children;
};
extern const Fields<Tree> kTreeFields;
const Fields<Tree> kTreeFields = {{"children?", "the same again", kTreeFields, &Tree::children}};

TEST(Fields, ADocumentMayContainItself) {
  const Document<Tree> document("tree", "A tree", kTreeFields);
  EXPECT_EQ(document.of({{{}, {}}}).dump(),
            Json({{"schema", "rightsize/tree/1"}, {"children", Json::array({Json::object(), Json::object()})}}).dump());
  EXPECT_EQ(*document.schema("#/there").find("properties")->find("children")->find("items")->find("$ref"),
            Json("#/there"));
}

// The scalars alone, as JSON.
struct Scalars final : FieldReader {
  Json made = Json::object();
  void add(std::string_view name, const FieldValue& value) override {
    made[name] = std::visit([](const auto& held) { return Json(held); }, value);
  }
};

RC_GTEST_PROP(Fields, ScalarsAreThoseOfTheJson, (bool yes, double number, bool dated, std::string text)) {
  Everything e;
  e.yes = yes, e.number = number, e.empty = text, e.time = seconds(number);
  e.date = when(dated, Date{20000});
  Scalars scalars;
  read_scalars(kEverythingFields, &e, scalars);
  const Json whole = json_of(kEverythingFields, e);
  const auto as_number = [](const Json& json) {
    return json.visit([](const auto& held) {
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>)
        return static_cast<double>(held);
      else
        return 0.0;
    });
  };
  std::size_t count = 0;
  whole.visit([&](const auto& members) {
    if constexpr (std::is_same_v<std::decay_t<decltype(members)>, Json::Object>) {
      for (const auto& [name, value] : members) {
        const Json* scalar = scalars.made.find(name);
        if (scalar == nullptr) continue;
        ++count;
        RC_ASSERT(*scalar == value || as_number(*scalar) == as_number(value));
      }
    }
  });
  RC_ASSERT(count == scalars.made.size());
  RC_ASSERT(count >= 12u);
}

}  // namespace
}  // namespace rightsize::report
