#include "rightsize/typed/foreign_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

// Groups with settings of the job. Keys of other groups describe something else: a port, a probe, a logger.

std::string last_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// Whether a flag, another tool's flag, an amount of work or a limit has this name.
bool is_understood(const std::string& flag, const std::string& value, const std::deque<FlagInfo>& declared) {
  return find_flag(declared, flag) != nullptr || !meant_flag(flag, declared, true).empty() || read_work_flag(flag) ||
         read_limit_name(flag.substr(2)) || !flag_by_words(flag, value, declared, true).empty();
}

}  // namespace

bool is_any(const std::string& value) { return lists_word("any all * cuda auto", to_lower(value)); }

bool is_off(const std::string& value) {
  return value.empty() || lists_word("false no none off 0 null", to_lower(value));
}

// Whether a path is one of these names or ends with one.
bool ends_with_name(std::string_view path, std::string_view names) {
  return std::ranges::any_of(split_list(names, ' '), [&](std::string_view name) {
    return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '.') ||
           (name.find('/') == name.npos && path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
  });
}

const std::string* find(const Entries& entries, std::string_view names) {
  for (const std::string_view name : split_list(names, ' ')) {
    for (const auto& [key, value] : entries) {
      if (!value.empty() && ends_with_name(key, name)) return &value;
    }
  }
  return nullptr;
}

std::string text_of(const Entries& entries, std::string_view names) {
  const std::string* value = find(entries, names);
  return value == nullptr ? std::string() : *value;
}

bool is_setting_of_job(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos || lists_word(listed("groups"), last_of(key.substr(0, dot)));
}

Meaning flag_for(const std::string& name, const std::string& value, const std::deque<FlagInfo>& declared,
                 bool serving) {
  using Kind = Meaning::Kind;
  const FlagInfo* own = find_flag(declared, "--" + name);
  const std::string meant = own != nullptr ? own->name : meant_flag("--" + name, declared, serving);
  if (lists_word("ignored default argument", meant)) return {"", Kind::kNoEffect};
  const std::size_t fixed = meant.find('=');
  const FlagInfo* flag = find_flag(declared, meant.substr(0, fixed));
  if (flag == nullptr || flag->setting == nullptr || (flag->name == "--gpu" && is_any(value))) return {};
  if (fixed != std::string::npos && meant.find('*') == std::string::npos)
    return {is_off(value) ? std::string() : meant, is_off(value) ? Kind::kNoEffect : Kind::kFlag};
  const std::string other = meant_value("--" + name, value);  // mixed-precision: bf16
  std::string text = meant_value(flag->name, other);
  if (flag->name == "--resolution") std::ranges::replace(text, ',', 'x');  // 1024,1024
  if (fixed != std::string::npos)
    text = meant.substr(fixed + 1, meant.find('*') - fixed - 1) + text + meant.substr(meant.find('*') + 1);
  if (flag->values.empty())
    return {is_off(value) ? std::string() : flag->name, is_off(value) ? Kind::kNoEffect : Kind::kFlag};
  if (!settings::read_list(*flag->setting, text)) return {"", is_off(value) ? Kind::kNoEffect : Kind::kUnclear};
  return {flag->name + "=" + text, Kind::kFlag};
}

Meaning meaning_of(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared,
                   bool serving) {
  using Kind = Meaning::Kind;
  const auto row =
      std::ranges::find_if(names_of("key"), [&](const NameRow& each) { return ends_with_name(key, each.names); });
  if (row == names_of("key").end()) {
    if (!is_setting_of_job(key)) return {};
    const std::string name = last_of(key), flag = "--" + name;
    const Meaning meaning = flag_for(name, value, declared, serving);
    if (meaning.kind != Kind::kUnknown || is_off(value)) return meaning;
    const bool amount = (read_work_flag(flag) && parse_amount(value)) || read_limit_name(name) ||
                        (lists_word("height width", name) && find_flag(declared, "--resolution"));
    return amount ? Meaning{flag + "=" + value, Kind::kFlag} : meaning;
  }
  if (row->meant.empty()) return {"", Kind::kNoEffect};
  std::string name(row->meant), text = value;
  if (const std::size_t fixed = name.find('='); fixed != std::string::npos) {
    text = name.substr(fixed + 1);
    if (const std::size_t star = text.find('*'); star != text.npos) text.replace(star, 1, value);
    name.resize(fixed);
  }
  const Meaning meaning = flag_for(name, text, declared, serving);
  if (meaning.kind != Kind::kUnknown) return meaning;
  // A flag of reinforcement learning that a later step reads.
  const bool later = lists_word("max-response-length ppo-mini-batch-size", name) && find_flag(declared, "--algorithm");
  return later ? Meaning{fmt::format("--{}={}", name, text), Kind::kFlag} : Meaning{};
}

std::string flag_of_key(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared) {
  constexpr std::string_view kOfGroup = "name id path type kind value default mean avg average";
  const auto flag = [](const std::string& name) { return "--" + plain_key(name); };
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) return flag(key);
  const std::string member = key.substr(dot + 1), group = last_of(key.substr(0, dot));
  std::vector<std::string> names{flag(member), flag(group + "-" + member), flag(member + "-" + group)};
  if (lists_word(kOfGroup, to_lower(member))) names.insert(names.begin(), flag(group));
  for (const std::string& name : names) {
    if (is_understood(name, value, declared)) return name;
  }
  return flag(key);
}

std::string shown_keys(const std::vector<std::string>& keys) {
  constexpr std::size_t kMost = 30;
  const std::vector<std::string> first(keys.begin(),
                                       keys.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, keys.size())));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     keys.size() > kMost ? fmt::format(" and {} more", keys.size() - kMost) : "");
}

}  // namespace rightsize::app
