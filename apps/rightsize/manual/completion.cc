#include <set>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "presets/presets.h"
#include "rightsize/command.h"
#include "rightsize/manual/manual.h"

namespace rightsize::app {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// The values a shell offers after a flag: its choices, or names of the catalogue.
std::vector<std::string> values_of(const FlagInfo& flag, const KnownValues& known) {
  std::vector<std::string> names = known.of(flag.name);
  std::erase_if(names, [](const std::string& name) { return name.find(' ') != std::string::npos; });
  if (!names.empty()) return names;
  if (flag.setting->kind == settings::Kind::kYesNo) return {"yes", "no"};
  for (const std::string_view name : flag.choices()) names.emplace_back(name);
  return names;
}

std::vector<std::string> flag_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const FlagInfo& flag : command.flags) {
    if (flag.name.starts_with('-')) names.push_back(flag.name);
  }
  return names;
}

std::vector<std::string> command_names(std::span<const CommandInfo> commands) {
  return list_of(commands, &CommandInfo::name);
}

// The values a shell offers for the first argument without a flag.
std::vector<std::string> argument_words(const CommandInfo& command, const KnownValues& known) {
  for (const FlagInfo& flag : command.flags) {
    if (!flag.argument.empty()) return values_of(flag, known);
  }
  return {};
}

// "--provider|--providers": the pattern of a shell's case.
std::string pattern_of(const FlagInfo& flag) {
  std::string text = flag.name;
  for (const std::string& other : flag.others) text += "|" + other;
  return text;
}

std::string bash_script(std::span<const CommandInfo> commands, const KnownValues& known) {
  std::string cases;
  for (const CommandInfo& command : commands) {
    cases += fmt::format("    {})\n      case $before in\n", command.name);
    for (const FlagInfo& flag : command.flags) {
      const auto words = values_of(flag, known);
      if (!words.empty() && flag.name.starts_with('-'))
        cases += fmt::format("        {}) words='{}' ;;\n", pattern_of(flag), joined(words));
    }
    std::vector<std::string> all = flag_names(command);
    for (const std::string& word : argument_words(command, known)) all.push_back(word);
    cases += fmt::format("        *) words='{}' ;;\n      esac ;;\n", joined(all));
  }
  return fmt::format(
      "# bash completion of rightsize: eval \"$(rightsize completion bash)\"\n"
      "_rightsize() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=''\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    words='{} help'\n"
      "  else case ${{COMP_WORDS[1]}} in\n"
      "    help) words='{}' ;;\n{}"
      "  esac; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "}}\ncomplete -o filenames -F _rightsize rightsize\n",
      joined(command_names(commands)), joined(command_names(commands)), cases);
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_script(std::span<const CommandInfo> commands, const KnownValues& known) {
  std::string text = "# fish completion of rightsize: rightsize completion fish | source\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c rightsize -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        fish_quoted(command.summary));
    const std::string when = fmt::format("complete -c rightsize -n '__fish_seen_subcommand_from {}'", command.name);
    for (const FlagInfo& flag : command.flags) {
      if (!flag.name.starts_with("--")) continue;
      text += fmt::format("{} -l {}{} -d {}", when, flag.name.substr(2), flag.values.empty() ? "" : " -r",
                          fish_quoted(flag.meaning));
      const auto words = values_of(flag, known);
      text += words.empty() ? "\n" : fmt::format(" -a {}\n", fish_quoted(joined(words)));
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string>& KnownValues::of(const std::string& flag) const {
  static const std::vector<std::string> kNone;
  if (flag == "--model") return models;
  if (flag == "--gpu") return gpus;
  if (flag == "--provider" || flag == "--providers") return providers;
  if (flag == "--region" || flag == "--regions") return regions;
  return kNone;
}

KnownValues known_values() {
  KnownValues known;
  known.models = model::preset_names();
  const Checked<catalog::Catalog> catalog = open_catalog("");
  if (!catalog) return known;
  std::set<std::string> providers, regions;
  for (const catalog::Gpu& gpu : catalog->gpus) known.gpus.push_back(gpu.name);
  for (const catalog::Machine& machine : catalog->machines) providers.insert(machine.provider);
  for (const catalog::Price& price : catalog->prices) regions.insert(price.region);
  known.providers.assign(providers.begin(), providers.end());
  known.regions.assign(regions.begin(), regions.end());
  return known;
}

Result<std::string> completion_script(std::string_view shell, std::span<const CommandInfo> commands,
                                      const KnownValues& values) {
  if (shell == "bash") return bash_script(commands, values);
  if (shell == "fish") return fish_script(commands, values);
  // zsh runs bash's completions.
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(commands, values);
  return fail(
      bad_input(shell.empty() ? "completion needs the name of a shell" : fmt::format("no completions for '{}'", shell))
          .with_hint(did_you_mean(shell, std::vector<std::string>{"bash", "zsh", "fish"}))
          .with_hint("shells are bash, zsh and fish"));
}

}  // namespace rightsize::app
