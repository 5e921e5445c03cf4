// Properties of any file and any request.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/test_catalog.h"
#include "manifests/compare.h"
#include "manifests/hcl.h"
#include "manifests/read.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {
namespace {

RC_GTEST_PROP(Templated, TextWithoutTemplateExpressionsIsUnchanged, (const std::vector<std::string>& lines)) {
  std::string text;
  for (const std::string& line : lines) {
    for (const char c : line) {
      if (c != '{' && c != '\0') text += c;
    }
    text += '\n';
  }
  RC_ASSERT(Templated(text).text() == text);
}

RC_GTEST_PROP(Templated, ATemplateExpressionIsRestored, ()) {
  const auto name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  const std::string hole = "{{ .Values." + name + " }}";
  const Templated templated("replicas: " + hole + "\n");
  const std::string scalar = templated.text().substr(10, templated.text().size() - 11);
  RC_ASSERT(Templated::is_open(scalar));
  RC_ASSERT(templated.original(scalar) == hole);
}

RC_GTEST_PROP(Hcl, AStringIsUnescaped, (const std::string& any)) {
  std::string plain, escaped;
  for (const char c : any) {
    if (c == '\0' || c == '\n' || c == '$' || c == '%') continue;
    plain += c;
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  const auto root = parse_hcl("a.tf", "a = \"" + escaped + "\"\nb = 1\n");
  RC_ASSERT(root.has_value());
  RC_ASSERT(root->find("a")->text == plain);
  RC_ASSERT(root->find("b")->number == 1);
}

RC_GTEST_PROP(Price, TwiceTheReplicasCostTwice, ()) {
  const market::PriceBook book(built_in_catalog());
  GpuRequest request;
  const auto& gpus = built_in_catalog().gpus;
  request.gpus = {gpus[*rc::gen::inRange<std::size_t>(0, gpus.size())].name};
  request.per_unit = *rc::gen::inRange(1, 9);
  request.units = *rc::gen::inRange(1, 50);
  request.spot = *rc::gen::arbitrary<bool>();
  const Cost once = price_of(request, book, {});
  request.units = *request.units * 2;
  const Cost twice = price_of(request, book, {});
  RC_ASSERT(once.rate.has_value() == twice.rate.has_value());
  if (once.rate) RC_ASSERT(std::abs(in_usd_per_hour(*twice.rate) / in_usd_per_hour(*once.rate) - 2) < 1e-9);
}

RC_GTEST_PROP(Compare, FilesThatAreTheSameHaveNoChange, ()) {
  std::vector<Side> sides(*rc::gen::inRange<std::size_t>(0, 12));
  for (Side& side : sides) {
    side.request.kind = *rc::gen::element<std::string>("Job", "Pod");
    side.request.name = *rc::gen::element<std::string>("a", "b", "c");
    side.request.file = *rc::gen::element<std::string>("x.yaml", "y.yaml");
    side.request.part = std::to_string(&side - sides.data());
    side.request.per_unit = *rc::gen::inRange(1, 9);
  }
  for (const RequestChange& change : compare(sides, sides)) RC_ASSERT(!change.differs());
}

// The cost of a change is the cost of the new files minus that of the old ones, however requests are paired.
RC_GTEST_PROP(Compare, NoRequestIsLostOrCountedTwice, ()) {
  const auto some = [] {
    std::vector<Side> sides(*rc::gen::inRange<std::size_t>(0, 8));
    for (Side& side : sides) {
      side.request.kind = *rc::gen::element<std::string>("Job", "Pod");
      side.request.name = *rc::gen::element<std::string>("a", "b");
      side.request.per_unit = *rc::gen::inRange(1, 9);
    }
    return sides;
  };
  const std::vector<Side> before = some(), after = some();
  const auto sum = [](const std::vector<Side>& sides) {
    double total = 0;
    for (const Side& side : sides) total += *side.request.per_unit;
    return total;
  };
  double change = 0;
  for (const RequestChange& each : compare(before, after)) {
    if (each.after) change += *each.after->request.per_unit;
    if (each.before) change -= *each.before->request.per_unit;
  }
  RC_ASSERT(change == sum(after) - sum(before));
}

}  // namespace
}  // namespace rightsize::manifests
