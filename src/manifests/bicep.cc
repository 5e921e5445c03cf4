// Azure's Bicep in the form of Terraform.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "base/text.h"
#include "manifests/blocks.h"
#include "manifests/hcl_functions.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;

// Bicep's strings in double quotes, as in HCL; texts of several lines become empty.
std::string double_quoted(std::string_view text) {
  std::string made;
  std::vector<char> within;  // ' in a string, { in an expression of a string or a bracket of that expression
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool string = !within.empty() && within.back() == '\'';
    const std::string_view rest = text.substr(i);
    if (!string && starts_with_any(rest, {"//", "/*"})) {
      const std::size_t end = rest[1] == '/' ? rest.find('\n') : rest.find("*/");
      made += rest.substr(0, end);
      if (end == std::string_view::npos) break;
      i += end - 1;
    } else if (!string && rest.starts_with("'''")) {
      const std::size_t end = std::min(text.find("'''", i + 3), text.size());
      made += "\"\"";
      for (; i < end; ++i) made += text[i] == '\n' ? "\n" : "";
      i += 2;
    } else if (text[i] == '\'') {
      made += '"';
      if (string)
        within.pop_back();
      else
        within.push_back('\'');
    } else if (string && text[i] == '\\' && i + 1 < text.size()) {
      made += text[i + 1] == '\'' ? "" : "\\";
      made += text[++i];
    } else if (string && rest.starts_with("${")) {
      made += "${";
      within.push_back('{');
      ++i;
    } else {
      if (!string && !within.empty() && text[i] == '{') within.push_back('{');
      if (!string && !within.empty() && text[i] == '}') within.pop_back();
      made += string && text[i] == '"' ? "\\\"" : std::string(1, text[i]);
    }
  }
  return made;
}

// "param size string = ..." becomes "param size" = ..., on the same line, so that HCL's reader takes it for an
// attribute; the condition of a resource becomes an attribute before it.
std::string as_attribute(std::string_view line) {
  const std::string_view statement = trim(line);
  const std::size_t equals = statement.find('=');
  if (equals == std::string_view::npos || !starts_with_any(statement, {"param ", "var ", "resource ", "module "}))
    return std::string(line);
  const std::vector<std::string_view> words = split_list(statement.substr(0, equals), ' ');
  std::string_view value = trim(statement.substr(equals + 1));
  if (words.size() < 2 || words.back() == "existing") return std::string(line);
  const bool deployed = words.size() > 2 && is_any(words[0], {"resource", "module"});
  std::string made, name = fmt::format("{} {}", words[0], words[1]);
  if (deployed) name += fmt::format(" {}", words[2].substr(1, words[2].find_first_of("@\"", 1) - 1));
  if (deployed && value.starts_with("if") && value.ends_with('{')) {
    made = fmt::format("\"if {}\" = {}, ", words[1], trim(value.substr(2, value.size() - 3)));
    value = "{";
  }
  return made + fmt::format("\"{}\" = {}", name, value);
}

HclValue block_of(std::vector<std::string> labels, int line) {
  HclValue block;
  block.kind = Kind::kObject;
  block.is_block = true;
  block.labels = std::move(labels);
  block.line = line;
  return block;
}

}  // namespace

Result<HclValue> parse_bicep(const std::string& file, std::string_view text) {
  std::string hcl, line;
  std::istringstream lines(double_quoted(text));
  while (std::getline(lines, line)) hcl += as_attribute(line) + "\n";
  Result<HclValue> parsed = parse_hcl(file, hcl);
  if (!parsed) return parsed;
  HclValue root = block_of({}, 1), locals = block_of({}, 1);
  for (auto& [key, value] : parsed->members) {
    const std::vector<std::string_view> split = split_list(key, ' ');
    const std::vector<std::string> words(split.begin(), split.end());
    if (words.size() == 2 && words[0] == "param") {
      HclValue variable = block_of({words[1]}, value.line);
      variable.members.emplace_back("default", std::move(value));
      root.members.emplace_back("variable", std::move(variable));
    } else if (words.size() == 2 && words[0] == "var") {
      locals.members.emplace_back(words[1], std::move(value));
    } else if (words.size() == 3) {
      const bool module = words[0] == "module";
      HclValue block = block_of(module ? std::vector{words[1]} : std::vector{words[2], words[1]}, value.line);
      if (const HclValue* condition = parsed->find("if " + words[1])) {
        HclValue count = *condition;
        count.kind = Kind::kExpression;
        count.text = fmt::format("({}) ? 1 : 0", condition->text);
        block.members.emplace_back("count", std::move(count));
      }
      const HclValue* given = module ? value.find("params") : &value;
      // A loop gives several of them.
      if (given != nullptr && given->kind == Kind::kExpression) block.members.emplace_back("copies", *given);
      if (given != nullptr) block.members.insert(block.members.end(), given->members.begin(), given->members.end());
      // The folder of a module is its file.
      if (module) block.members.emplace_back("source", hcl_string("../" + words[2]));
      root.members.emplace_back(words[0], std::move(block));
    }
  }
  root.members.emplace_back("locals", std::move(locals));
  return root;
}

}  // namespace rightsize::manifests
