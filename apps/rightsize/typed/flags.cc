#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/spellings.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

// Lower case with hyphens: how flags are written.
std::string tidied(std::string_view name) {
  std::string out = name.size() > 2 ? to_lower(name) : std::string(name);
  for (char& c : out) c = c == '_' ? '-' : c;
  return out;
}

bool is_yes(std::string_view word) { return word == "yes" || word == "true" || word == "on"; }
bool is_no(std::string_view word) { return word == "no" || word == "false" || word == "off"; }

class Rewriter {
 public:
  Rewriter(Typed typed, const std::deque<FlagInfo>& declared) : in_(std::move(typed.words)) {
    out_.notes = std::move(typed.notes);
    for (const FlagInfo& flag : declared) {
      if (!flag.name.starts_with('-')) argument_ = true;
      flags_[flag.name] = &flag;
      for (std::string_view other : split_list(flag.others, ',')) flags_[std::string(trim(other))] = &flag;
    }
    serving_ = std::any_of(in_.begin(), in_.end(), [](const std::string& word) {
      const std::string lower = to_lower(word);
      return lower == "serve" || lower == "--serve" || lower == "inference" || lower == "--inference" ||
             lower == "serving" || lower == "--job=serve";
    });
  }

  Result<Typed> run() {
    const bool runs_others = !in_.empty() && in_.front() == "profile";
    for (at_ = 0; at_ < in_.size(); ++at_) {
      const std::string& word = in_[at_];
      const bool stop = word == "--" || (runs_others && at_ > 0 && !word.starts_with('-'));
      if (stop) {
        out_.words.insert(out_.words.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_), in_.end());
        break;
      }
      const bool flag = word.size() > 1 && word.front() == '-' && at_ > 0;
      if (!flag) {
        out_.words.push_back(word);
      } else if (Result<> taken = take_flag(word); !taken) {
        return fail(taken.error());
      }
    }
    return std::move(out_);
  }

 private:
  const FlagInfo* find(const std::string& name) const {
    const auto found = flags_.find(name);
    return found == flags_.end() ? nullptr : found->second;
  }

  // The flag itself, in another case, with underscores, or in the other number: --Model, --batch_size, --regions.
  const FlagInfo* find_alike(const std::string& name) const {
    const std::string tidy = tidied(name);
    if (const FlagInfo* found = find(tidy)) return found;
    if (tidy.size() < 4) return nullptr;
    if (const FlagInfo* found = find(tidy + "s")) return found;
    return tidy.ends_with('s') ? find(tidy.substr(0, tidy.size() - 1)) : nullptr;
  }

  Result<> take_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (const FlagInfo* same = find_alike(name)) {
      put(*same, same->name, value);
      return {};
    }
    const std::string tidy = tidied(name);
    if (tidy == "--no-color" || tidy == "--no-colour") {
      out_.plain = true;
      return {};
    }
    for (const Spelling& spelling : spellings()) {
      if (spelling.typed != tidy || !applies(spelling)) continue;
      return take_spelling(spelling, name, value);
    }
    for (const Refusal& refusal : refusals()) {
      if (refusal.typed == tidy)
        return fail(bad_input(fmt::format("there is no flag '{}'", name)).with_hint(std::string(refusal.why)));
    }
    out_.words.push_back(word);
    return {};
  }

  bool applies(const Spelling& spelling) const {
    if (spelling.when == When::kServing && !serving_) return false;
    if (spelling.when == When::kTraining && serving_) return false;
    if (spelling.flag.empty()) return true;
    return spelling.flag == kArgument ? argument_ : find(std::string(spelling.flag)) != nullptr;
  }

  Result<> take_spelling(const Spelling& spelling, const std::string& typed, const std::optional<std::string>& value) {
    if (spelling.flag.empty()) {  // means nothing here
      out_.notes.push_back(fmt::format("{} is not needed: {}", typed, spelling.value));
      if (spelling.takes_value && !value) ++at_;
      return {};
    }
    if (spelling.flag == kArgument) return {};  // -f FILE: the file alone
    const FlagInfo& flag = *find(std::string(spelling.flag));
    if (!spelling.value.empty()) {
      out_.notes.push_back(fmt::format("{} is {}{}{} here", typed, flag.name, flag.values.empty() ? "" : " ",
                                       flag.values.empty() ? "" : spelling.value));
      out_.words.push_back(flag.name);
      if (!flag.values.empty()) out_.words.emplace_back(spelling.value);
      if (spelling.takes_value && !value) ++at_;
      return {};
    }
    if (flag.name != "--format") out_.notes.push_back(fmt::format("{} is {} here", typed, flag.name));
    put(flag, flag.name, value, spelling.unit);
    return {};
  }

  // The flag and its value, which is the next word where it does not stand behind '='.
  void put(const FlagInfo& flag, const std::string& name, std::optional<std::string> value,
           std::string_view unit = {}) {
    if (flag.values.empty()) {
      put_switch(name, value);
      return;
    }
    out_.words.push_back(name);
    if (!value) {
      if (at_ + 1 >= in_.size() || is_flag(in_[at_ + 1])) return;
      value = in_[++at_];
    }
    const bool bare = !value->empty() && value->find_first_not_of("0123456789.,") == std::string::npos;
    std::string meant = meant_value(name, *value) + std::string(bare ? unit : "");
    if (name == "--format" && meant == "wide") {
      out_.words.back() = "--wide";
      return;
    }
    out_.words.push_back(std::move(meant));
  }

  // A flag of ours, so that `--gpu --json` is not a GPU called --json.
  bool is_flag(const std::string& word) const {
    return word.size() > 2 && word.starts_with("--") && find_alike(word.substr(0, word.find('='))) != nullptr;
  }

  // `--community yes`: a switch stands alone.
  void put_switch(const std::string& name, std::optional<std::string> value) {
    if (!value && at_ + 1 < in_.size() && (is_yes(to_lower(in_[at_ + 1])) || is_no(to_lower(in_[at_ + 1]))))
      value = in_[++at_];
    if (!value || is_yes(to_lower(*value))) {
      out_.words.push_back(name);
    } else if (!is_no(to_lower(*value))) {
      out_.words.push_back(name + "=" + *value);
    }
  }

  std::vector<std::string> in_;
  std::map<std::string, const FlagInfo*> flags_;
  bool serving_ = false, argument_ = false;
  std::size_t at_ = 0;
  Typed out_;
};

}  // namespace

Result<Typed> meant_flags(Typed typed, const std::deque<FlagInfo>& declared) {
  return Rewriter(std::move(typed), declared).run();
}

}  // namespace rightsize::app
