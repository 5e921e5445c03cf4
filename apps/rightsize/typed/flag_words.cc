#include "rightsize/typed/flag_words.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

using Words = std::set<std::string>;

// The meanings of a flag's words. `limits`: whether "max" counts.
Words meanings(std::string_view flag, bool limits) {
  Words found;
  for (const std::string_view part : split_list(flag, '-')) {
    std::string word = to_lower(part);
    if (word.empty() || lists_word(listed("flag fillers"), word)) continue;
    const NameRow* group = row_of("synonym", word);
    if (group == nullptr && word.size() > 3 && word.ends_with('s'))
      group = row_of("synonym", word.substr(0, word.size() - 1));
    if (group != nullptr) word = group->meant;
    if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
    if (limits || word != "cap") found.insert(word);
  }
  // Inputs and outputs are lengths, in tokens.
  if (found.contains("input") || found.contains("output"))
    std::erase_if(found, [](const std::string& word) { return lists_word("length token", word); });
  return found;
}

}  // namespace

// --deadline-hours 24 is --deadline 24h, budget_per_day 100 is --budget 100/d.
std::pair<std::string, std::string> split_unit(std::string_view typed) {
  std::string name = "-", found;
  bool per = false;
  for (const std::string_view part : split_list(typed, '-')) {
    const NameRow* unit = row_of("unit", part);
    if (unit == nullptr && part != "per") name += "-" + std::string(part);
    if (unit != nullptr && !unit->meant.empty())
      found = (per || part.ends_with("ly") ? "/" : "") + std::string(unit->meant);
    per = part == "per";
  }
  return {name, found};
}

std::string meant_flag(std::string_view typed, const std::deque<FlagInfo>& declared, bool serving,
                       const std::optional<std::string>& said) {
  const bool has_argument = std::any_of(declared.begin(), declared.end(), [](const FlagInfo& flag) {
    return !flag.name.starts_with('-') || (flag.name == "--model" && !flag.argument.empty());
  });
  for (const NameRow& alias : names_of("flag")) {
    if (!alias.more.empty() && !serving) continue;
    const std::string_view flag = alias.meant.substr(0, alias.meant.find('='));
    const bool has = flag == "argument"  ? has_argument
                     : flag == "default" ? true
                     : flag == "ignored"
                         ? find_flag(declared, "--model") != nullptr || find_flag(declared, "--region") != nullptr ||
                               find_flag(declared, "--fail-over") != nullptr
                         : find_flag(declared, flag) != nullptr;
    if (!has || !lists_word(alias.names, typed)) continue;
    const bool takes = flag == alias.meant || alias.meant.find('*') != alias.meant.npos;
    const FlagInfo* meant = said && takes ? find_flag(declared, flag) : nullptr;
    const bool unnamed = flag == "--gpu" && said && is_digits(*said) && kind_of_word(*said) != WordKind::kGpu;
    if (meant != nullptr && !meant->values.empty() && (said->empty() || unnamed)) continue;
    return std::string(alias.meant);
  }
  // --tokens-per-item and the like: the length of each.
  constexpr std::string_view kPer = "--tokens-per-", kEach = "--tokens-per-doc";
  const bool each = typed.starts_with(kPer) && typed != kEach &&
                    !lists_word("second s minute hour day step batch gpu", typed.substr(kPer.size()));
  return each ? meant_flag(kEach, declared, serving) : std::string();
}

bool is_opposite(std::string_view one, std::string_view other) {
  const auto end = [](std::string_view flag) { return flag.starts_with("--min-") - flag.starts_with("--max-"); };
  return end(one) * end(other) < 0;
}

bool is_accepted(const FlagInfo& flag, const std::string& value) {
  return flag.name == "--gpus" || settings::read_list(*flag.setting, value).has_value();  // --gpus takes 8xh100 too
}

namespace {

// The names of our flags and their aliases are compared with every key of a file. Entries stay where they are, so that
// callers may keep them without the lock.
const Words& meanings_of_ours(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Words, std::less<>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, meanings(name, true)).first->second;
}

std::string by_meaning(const std::string& typed, const std::string& value, const std::deque<FlagInfo>& declared,
                       bool serving) {
  // --max-rate may be --rate, but --seq is not --max-seqs.
  for (const bool limits : {true, false}) {
    const Words wanted = meanings(typed, limits);
    if (wanted.empty()) return {};
    std::set<std::string> found;
    for (const FlagInfo& flag : declared) {
      if (flag.name.starts_with("--") && meanings_of_ours(flag.name) == wanted) found.insert(flag.name);
    }
    for (const NameRow& alias : names_of("flag")) {
      for (const std::string_view name : split_list(alias.names, ' ')) {
        if (!name.starts_with("--") || meanings_of_ours(name) != wanted) continue;
        const std::string meant = meant_flag(name, declared, serving, value);
        if (meant.starts_with("--")) found.insert(meant);
      }
    }
    std::erase_if(found, [&](const std::string& meant) {
      const std::string name = meant.substr(0, meant.find('='));
      const FlagInfo* flag = find_flag(declared, name);
      const bool takes_value = !flag->values.empty() && name.size() == meant.size();
      return takes_value && !settings::read_list(*flag->setting, meant_value(flag->name, value));
    });
    if (found.contains("--gpu") && found.contains("--gpus"))
      return is_digits(value) && value.size() < 4 ? "--gpus" : "--gpu";
    for (const char* length : {"--isl", "--osl"})  // RL also has a number of answers
      if (found.size() > 1 && found.contains(length)) return length;
    if (found.size() == 1) return *found.begin();
  }
  // A part of the words of one flag that takes this value: --kv q8 is --kv-precision.
  const Words wanted = meanings(typed, true);
  std::set<std::string> found;
  for (const FlagInfo& flag : declared) {
    const Words& ours = meanings_of_ours(flag.name);
    const bool part = flag.name.starts_with("--") && std::ranges::includes(ours, wanted);
    if (part && (flag.values.empty() ? value.empty() : is_accepted(flag, meant_value(flag.name, value))) &&
        !is_digits(value))
      found.insert(flag.name);
  }
  return found.size() == 1 && !wanted.empty() && !value.empty() ? *found.begin() : std::string();
}

}  // namespace

std::string column_called(const std::string& name, const std::vector<std::string>& columns) {
  const auto same =
      std::ranges::find_if(columns, [&](const std::string& column) { return fold_name(column) == fold_name(name); });
  if (same != columns.end()) return *same;
  const Words wanted = meanings(name, true);
  const auto meant = std::ranges::find_if(
      columns, [&](const std::string& column) { return !wanted.empty() && meanings(column, true) == wanted; });
  return meant == columns.end() ? std::string() : *meant;
}

std::vector<std::string> flags_spelled_like(const std::string& typed, const std::optional<std::string>& value,
                                            const std::deque<FlagInfo>& declared) {
  std::vector<std::string> known;
  for (const FlagInfo& flag : declared) {
    const bool accepts = flag.values.empty() ? !value : value && is_accepted(flag, *value);
    if (accepts && flag.name.starts_with("--")) known.push_back(flag.name);
  }
  const int errors = std::min<int>(2, static_cast<int>(fold_name(typed).size() + 1) / 4);
  std::vector<std::string> near = suggest(typed, known);
  std::erase_if(near, [&](const std::string& name) {
    return is_opposite(name, typed) ||
           (!name.starts_with(typed) && edit_distance(fold_name(name), fold_name(typed)) > errors);
  });
  for (const NameRow& alias : names_of("flag")) {  // --min-vrma is nearest to --min-vram, another name of --min-memory
    if (!near.empty() || !alias.meant.starts_with("--") || !alias.more.empty()) continue;
    const std::string name(alias.meant.substr(0, alias.meant.find('=')));
    const std::size_t star = alias.meant.find('*');
    const FlagInfo* flag = find_flag(declared, name);
    const bool takes =
        flag != nullptr && value && !flag->values.empty() &&
        (star != alias.meant.npos ? is_accepted(*flag, *value + std::string(alias.meant.substr(star + 1)))
                                  : name.size() == alias.meant.size() && is_accepted(*flag, *value));
    const bool alike = std::ranges::any_of(split_list(alias.names, ' '), [&](std::string_view one) {
      return one.size() > 5 && edit_distance(fold_name(one), fold_name(typed)) <= errors;
    });
    const auto begins = [&](std::string_view limit) { return name.starts_with(limit) == typed.starts_with(limit); };
    if (alike && takes && begins("--min-") && begins("--max-")) near.push_back(name);
  }
  return near;
}

std::string flag_by_words(const std::string& typed, const std::string& value, const std::deque<FlagInfo>& declared,
                          bool serving) {
  // --seqlen, --batchsize: the same letters without dashes.
  std::set<std::string> same;
  for (const NameRow& alias : names_of("flag")) {
    for (const std::string_view name : split_list(alias.names, ' ')) {
      if (!name.starts_with("--") || fold_name(name) != fold_name(typed)) continue;
      const std::string meant = meant_flag(name, declared, serving, value);
      if (meant.starts_with("--")) same.insert(meant);
    }
  }
  if (same.size() == 1) return *same.begin();
  const auto [name, unit] = split_unit(typed);
  const bool split = name != typed && name.size() > 2 && is_digits(value);
  const FlagInfo* own = split ? find_flag(declared, name) : nullptr;
  std::string meant = own != nullptr ? own->name : split ? meant_flag(name, declared, serving, value) : std::string();
  if (meant.empty()) {
    if (const std::string whole = by_meaning(typed, value, declared, serving); !whole.empty() || !split) return whole;
    meant = by_meaning(name, value + unit, declared, serving);
  }
  if (!meant.starts_with("--") || meant.find('=') != meant.npos) return meant.find('*') != meant.npos ? meant : "";
  const settings::Setting& row = *find_flag(declared, meant)->setting;
  const bool period = row.kind == settings::Kind::kUsd && unit.starts_with('/');  // a budget over time
  if (meant == "--dataset-tokens" && !unit.empty()) return meant + "=*" + unit;
  if (!settings::is_number(row.kind) || (!period && !settings::read_list(row, value + unit))) return {};
  return unit.empty() ? meant : meant + "=*" + unit;
}

}  // namespace rightsize::app
