// For tests: answers to requests, and the files written for them as values.
#pragma once

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/yaml.h"
#include "launch/hand_over.h"
#include "plan/test_requests.h"

namespace rightsize::launch {

using plan::Given;

struct Answer {
  plan::Request request;
  plan::Recommendation found;
  const plan::Plan& best() const { return found.plans.at(0); }
};

inline Answer answer(const Given& given) {
  Answer made{plan::request_of(given), {}};
  made.found = plan::recommend(made.request, built_in_prices(), built_in_constants());
  EXPECT_FALSE(made.found.plans.empty());
  return made;
}

// The documents of a file; the header's comments stay with the first.
inline std::vector<YamlValue> documents(const std::string& text) {
  std::vector<YamlValue> all;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find("\n---\n", at), text.size());
    Result<YamlDocument> parsed = YamlDocument::parse("made", text.substr(at, end - at) + "\n");
    EXPECT_TRUE(parsed) << describe(parsed.error()) << text;
    if (parsed) all.push_back(parsed->root());
    at = end + 5;
  }
  return all;
}

// "spec/template/spec/containers/0/image"; names must not contain '/'.
inline std::string field(const YamlValue& root, const std::string& path) {
  const YamlValue* at = &root;
  for (std::string_view part : split_list(path, '/')) {
    if (at->kind == YamlValue::Kind::kList) {
      const auto index = static_cast<std::size_t>(std::atoi(std::string(part).c_str()));
      if (index >= at->list.size()) return "(none)";
      at = &at->list[index];
    } else if (at = at->find(part); at == nullptr) {
      return "(none)";
    }
  }
  return at->scalar;
}

inline ::testing::AssertionResult is_bash(const std::string& script) {
  const std::string file = ::testing::TempDir() + "hand_over_script.sh";
  std::ofstream(file) << script;
  if (std::system(("bash -n " + file).c_str()) == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "bash cannot read:\n" << script;
}

}  // namespace rightsize::launch
