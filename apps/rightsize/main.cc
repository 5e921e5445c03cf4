// rightsize: parses the command line, runs one command and prints its report. Only this file prints errors and chooses
// exit codes. main() is in entry.cc; everything else is a library that other front ends link.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/csv.h"
#include "base/embedded.h"
#include "base/long_work.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/trial_time.h"
#include "report/report.h"
#include "rightsize/call.h"
#include "rightsize/command.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/manual/manual.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/progress.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/repair.h"
#include "rightsize/typed/trial_line.h"
#include "rightsize/typed/typed.h"
#include "rightsize/typed/work.h"

namespace rightsize::app {
namespace {

// Their summaries and examples are in data/commands.csv.
constexpr Command kCommands[] = {{"recommend", add_recommend},
                                 {"checklist", add_checklist},
                                 {"init", add_init},
                                 {"portfolio", add_portfolio},
                                 {"commit", add_commit},
                                 {"prices", add_prices},
                                 {"gpus", add_gpus},
                                 {"models", add_models},
                                 {"memory", add_memory},
                                 {"estimate", add_estimate},
                                 {"batch", add_batch},
                                 {"autoscale", add_autoscale},
                                 {"window", add_window},
                                 {"cache", add_cache},
                                 {"mig", add_mig},
                                 {"profile", add_profile},
                                 {"top", add_top},
                                 {"service", add_service},
                                 {"fleet", add_fleet},
                                 {"bill", add_bill},
                                 {"calibrate", add_calibrate},
                                 {"diff", add_diff},
                                 {"decide", add_decide},
                                 {"rollout", add_rollout},
                                 {"verify", add_verify},
                                 {"decisions", add_decisions},
                                 {"serve", add_serve},
                                 {"exporter", add_exporter}};

constexpr int kInterrupted = 130;  // as shells do: 128 + SIGINT

struct Common {
  std::string format;
  bool wide = false, quiet = false, help = false;
};

// One command with its flags, ready to be parsed and run.
class DeclaredCommand {
 public:
  explicit DeclaredCommand(const Command& command) : command_(command), run(command.add(flags)) {
    flags.group("Output");
    flags.add("format", common.format);
    flags.add("wide", common.wide);
    flags.add("quiet", common.quiet);
    flags.add("help", common.help);
  }

  CommandInfo describe() const {
    static const Csv kTexts = *Csv::parse("data/commands.csv", std::string(embedded_file("commands.csv")));
    CommandInfo info{command_.name, {}, {}, flags.declared(), flags.verbs};
    for (const CsvRow& row : kTexts.rows()) {
      if (kTexts.cell(row, "name") != info.name) continue;
      info.group = kTexts.cell(row, "group");
      info.summary = kTexts.cell(row, "summary");
      info.short_help = kTexts.cell(row, "options");
      for (const std::string_view example : {kTexts.cell(row, "first"), kTexts.cell(row, "second")})
        if (example.find("--help") == std::string_view::npos) info.examples.emplace_back(example);
    }
    sort_into_groups(info.flags);
    return info;
  }

 private:
  const Command& command_;

 public:
  FlagSet flags;
  Common common;
  Run run;
};

std::vector<CommandInfo> describe_all() {
  std::vector<CommandInfo> all;
  for (const Command& command : kCommands) all.push_back(DeclaredCommand(command).describe());
  return all;
}

// The commands that have a flag.
std::vector<std::string> commands_with(const std::string& flag) {
  std::vector<std::string> names;
  for (const CommandInfo& command : describe_all()) {
    if (find_flag(command.flags, flag) != nullptr) names.push_back(fmt::format("'{}'", command.name));
  }
  return names;
}

Error unknown_flag(const std::string& flag, const CommandInfo& command) {
  const std::string hint = fmt::format("'rightsize {} --help' lists the flags", command.name);
  // Another command may have the flag, under its own name or another tool's.
  std::vector<std::string> others = commands_with(flag);
  for (const NameRow& alias : names_of("flag"))
    if (others.empty() && lists_word(alias.names, to_lower(flag)))
      others = commands_with(std::string(alias.meant.substr(0, alias.meant.find('='))));
  std::erase(others, fmt::format("'{}'", command.name));
  const bool more = others.size() > 3;
  if (more) others.resize(3);
  if (!others.empty()) {
    return bad_input(fmt::format("'{}' has no {}: {}{} {} it", command.name, flag, fmt::join(others, ", "),
                                 more ? " and others" : "", others.size() == 1 ? "takes" : "take"))
        .with_hint(hint);
  }
  std::vector<std::string> known;
  for (const FlagInfo& info : command.flags)
    if (!is_opposite(flag, info.name)) known.push_back(info.name);
  return bad_input(fmt::format("unknown flag '{}'", flag)).with_hint(did_you_mean(flag, known)).with_hint(hint);
}

// Parses the words after the command's name, and reports all mistakes at once.
Checked<void> parse(DeclaredCommand& declared, const std::vector<std::string>& words) {
  Checked<std::vector<std::string>> unknown = declared.flags.parse(words);
  Errors errors;
  if (!unknown) {
    errors = std::move(unknown).error();
    errors.back().hints.push_back(fmt::format("'rightsize {} --help' explains the flags", declared.describe().name));
  } else if (!unknown->empty()) {
    const CommandInfo command = declared.describe();
    const std::string& word = unknown->front();
    const std::size_t equals = std::min(word.find('='), word.size());
    errors.push_back(word.starts_with('-')
                         ? unknown_flag(word.substr(0, equals), command)
                         : bad_input(fmt::format("'{}' takes no argument '{}'", command.name, word))
                               .with_hint(fmt::format(
                                   "'rightsize {} --help' lists its options; quote values with spaces", command.name)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

// The width of the output: $COLUMNS, otherwise the terminal's. Empty for files and pipes.
std::optional<std::size_t> terminal_width() {
  constexpr std::size_t kNarrowest = 60, kWidest = 200;
  std::size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS")) width = static_cast<std::size_t>(std::atoi(columns));
  winsize window{};
  if (width == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) width = window.ws_col;
  if (width == 0) return std::nullopt;
  return std::clamp(width, kNarrowest, kWidest);
}

report::Style terminal_style(const Common& common) {
  report::Style style;
  style.colour = takes_escape_codes(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  if (const auto width = terminal_width()) {
    style.width = *width;
    style.fit_tables = !common.wide;
  }
  style.quiet = common.quiet;
  return style;
}

std::size_t help_width() { return terminal_width().value_or(100); }

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kDone;
  std::cerr << "error: cannot write the output\n";
  return exit_code(unreadable(""));
}

int print_error(const Errors& errors) {
  std::cerr << describe(errors);
  return exit_code(errors.front());
}

// "rightsize 0.2.0 (commit 0123456789ab)"
std::string version_line() {
  const std::string_view commit = RIGHTSIZE_COMMIT;
  return fmt::format("rightsize {}{}\n", RIGHTSIZE_VERSION, commit.empty() ? "" : fmt::format(" (commit {})", commit));
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& command) { return name == command.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

// Documentation of the program: `help [COMMAND]`, `completion SHELL`, `manual [COMMAND]`, `schema [NAME]`. Empty if the
// first word is none of these.
std::optional<int> run_manual(const std::vector<std::string>& words) {
  const std::string topic = words.empty() ? "" : words[0];
  if (topic != "help" && topic != "completion" && topic != "manual" && topic != "schema") return std::nullopt;
  const std::string asked = words.size() > 1 ? words[1] : "";
  if (topic == "schema") {
    const Result<std::string> text = schema_text(asked);
    return text ? print(*text) : print_error({text.error()});
  }
  if (topic == "completion") {
    const auto script = completion_script(asked, describe_all(), known_values());
    return script ? print(*script) : print_error({script.error()});
  }
  // A manual page is input for man(1). At a terminal, the help text is easier to read.
  const bool readable = topic == "help" || isatty(STDOUT_FILENO) != 0;
  if (asked.empty() || asked.starts_with('-')) {
    return print(readable ? overview_text(describe_all(), help_width()) : overview_page(describe_all()));
  }
  const Command* command = find_command(meant_command({asked}, command_names()).words.front());
  if (command == nullptr && !job_of(asked).empty()) command = find_command("recommend");  // help rl
  if (command == nullptr && words.size() > 2) return print(overview_text(describe_all(), help_width()));
  if (command == nullptr) {
    const std::vector<std::string> near = suggest(asked, command_names());
    const int code = print_error({unknown_command(asked)});
    std::cerr << fmt::format("try: rightsize help{}\n", near.empty() ? "" : " " + near.front());
    return code;
  }
  const CommandInfo info = DeclaredCommand(*command).describe();
  if (!readable) return print(manual_page(info));
  const bool all = std::find(words.begin(), words.end(), "--all") != words.end();
  return print(all ? full_help_text(info, help_width()) : help_text(info, help_width()));
}

std::vector<std::string> names_and_topics() {
  std::vector<std::string> names = command_names();
  names.insert(names.end(), {"help", "completion", "manual", "schema"});
  return names;
}

// Trying suggestions must not delay a refusal. Their number limits that, so that they do not depend on the machine; the
// processor time ends only what takes far longer than usual.
constexpr int kMostRuns = 16;
constexpr double kSecondsOfTrials = 9;

// Empty if a command line has an answer, otherwise its errors. Tried without notes on standard error, with --plans-only
// or --dry-run if possible. A command that acts is only parsed, where that is what failed (`parse_only`). `runs` counts
// the commands that took their input: a refused one costs little.
std::optional<Errors> try_out(const std::vector<std::string>& words, int& runs, bool parse_only = false) {
  const Command* command = find_command(words.front());
  if (command == nullptr) return Errors{};
  const QuietNotes quiet;
  const NoWrites unchanged;
  DeclaredCommand declared(*command);
  const std::deque<FlagInfo> known = declared.describe().flags;
  const Typed meant = meant_work(meant_flags({words}, known), known);
  if (meant.refusal) return Errors{*meant.refusal};
  std::vector<std::string> rest(meant.words.begin() + 1, meant.words.end());
  for (const std::string& flag : quick_flags(meant.words)) rest.push_back(flag);
  const bool dry = !only_reads(words) && find_flag(known, "--dry-run") != nullptr;
  if (dry) rest.emplace_back("--dry-run");
  std::vector<std::string> all = rest;
  all.insert(all.begin(), words.front());
  const bool reads = only_reads(all);
  if (!reads && !parse_only) return Errors{};
  if (const Checked<void> parsed = parse(declared, rest); !parsed || !reads)
    return parsed ? std::nullopt : std::optional(parsed.error());
  const Checked<Outcome> outcome = call(words.front(), rest);
  if (!outcome) return outcome.error();
  ++runs;
  // A check that did not pass is an answer, and so is a plan that does not exist.
  const bool answered = outcome->exit_code == kDone || outcome->exit_code == kCheckFailed ||
                        (outcome->exit_code == kNoFeasibleAnswer && lists_word("recommend batch", words.front()));
  return answered ? std::nullopt : std::optional(Errors{});
}

// Another command that takes every flag of a line: `estimate llama-3.1-8b --budget 500` asks for a plan. `planners`:
// the commands to try where this one has all the flags itself.
std::optional<std::vector<std::string>> for_another_command(const std::vector<std::string>& words,
                                                            const std::deque<FlagInfo>& declared, const Trial& trial,
                                                            std::string_view planners = {}) {
  std::vector<std::string> foreign;
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("--") && find_flag(declared, flag) == nullptr && !commands_with(flag).empty())
      foreign.push_back(flag);
  }
  for (const Command& command : kCommands) {
    if (command.name == words.front() || (foreign.empty() && !lists_word(planners, command.name))) continue;
    std::vector<std::string> line = words;
    line.front() = command.name;
    DeclaredCommand other(command);
    const std::deque<FlagInfo> known = other.describe().flags;
    Typed meant = meant_work(meant_flags({line}, known), known);
    // Every flag counts here, but what an answer ignores was not understood.
    const bool ignored = std::ranges::any_of(meant.notes, [](const std::string& text) {
      return text.find("ignored") != text.npos || text.find("does not depend") != text.npos;
    });
    const bool takes =
        std::ranges::all_of(foreign, [&](const auto& flag) { return find_flag(known, flag) != nullptr; });
    if (takes && !ignored && parse(other, {meant.words.begin() + 1, meant.words.end()}) && only_reads(line) &&
        !trial(line))
      return line;
  }
  return std::nullopt;
}

// The command that reads a file which this one refuses, with nothing else.
std::optional<std::vector<std::string>> reader_of_refused(const Errors& errors, const std::vector<std::string>& words,
                                                          const Trial& trial) {
  for (const std::string& word : words) {
    const bool refused = std::ranges::any_of(errors, [&](const Error& error) {
      return error.place.file == word || error.message.find(word) != std::string::npos;
    });
    const std::vector<std::string> reader = command_for_file(word);
    if (refused && !reader.empty() && reader.front() != words.front() && !trial(reader)) return reader;
  }
  return std::nullopt;
}

// Ends a refusal with a command that runs: what was typed with as few changes as possible, or the command's help.
int refuse(const Errors& errors, const std::vector<std::string>& words, const std::deque<FlagInfo>& declared,
           const std::vector<std::string>& typed) {
  const int code = print_error(errors);
  if (errors.front().code == ErrorCode::kBug) return code;
  const TrialTime time(kSecondsOfTrials);
  DeclaredCommand again(*find_command(words.front()));
  const bool misspelt = !only_reads(words) && !parse(again, {words.begin() + 1, words.end()});
  int runs = 0;
  const auto is_over = [&] { return runs >= kMostRuns || time.is_over(); };
  const Trial trial = [&](const std::vector<std::string>& tried) {
    std::optional<Errors> refused = is_over() ? Errors{} : try_out(tried, runs, misspelt);
    return time.is_over() ? Errors{} : refused;
  };
  std::optional<std::vector<std::string>> nearest = for_another_command(typed, declared, trial);
  if (!nearest) nearest = reader_of_refused(errors, words, trial);
  if (!nearest) nearest = repaired(words, declared, trial, errors);
  for (const std::vector<std::string>& list : names_like(errors)) {
    if (!nearest && !trial(list)) nearest = list;
  }
  // Examples run: only a trial within the limits can tell more. One without what was typed answers another question.
  const std::vector<std::string> named = named_things(words);
  if (const Command* command = find_command(words.front()); command != nullptr && !nearest)
    nearest = example_with(named, DeclaredCommand(*command).describe().examples, [&](const auto& one) {
      return std::ranges::all_of(words, [&](const std::string& word) { return holds(one, word); }) &&
             (is_over() || !trial(one));
    });
  if (!nearest) nearest = for_another_command(typed, declared, trial, "recommend estimate memory prices");
  if (nearest) {
    for (const std::string& line : changes(words, *nearest, declared)) std::cerr << "note: " << line << '\n';
  }
  if (nearest || named.empty())
    std::cerr << "try: " << as_typed(nearest.value_or(std::vector<std::string>{words.front(), "--help"})) << '\n';
  return code;
}

int run_command(const Command& command, Typed typed) {
  DeclaredCommand declared(command);
  const std::deque<FlagInfo> known = declared.describe().flags;
  const bool all = std::find(typed.words.begin(), typed.words.end(), "--all") != typed.words.end();
  const std::vector<std::string> said = typed.words;
  const Typed meant = meant_work(meant_flags(std::move(typed), known), known);
  if (meant.plain) setenv("NO_COLOR", "1", 1);
  const NotesOnce once;
  if (!meant.asked.empty()) note(fmt::format("'{}' is read as '{}'", meant.asked, as_typed(meant.words)));
  if (!meant.renamed.empty()) note(fmt::format("{} here", fmt::join(meant.renamed, ", ")));
  for (const std::string& text : meant.notes) note(text);
  const Checked<void> parsed = parse(declared, {meant.words.begin() + 1, meant.words.end()});
  std::vector<std::string> without_assumed = meant.words;  // a suggestion makes its own assumptions
  std::erase_if(without_assumed,
                [&](const std::string& word) { return std::ranges::find(meant.assumed, word) != meant.assumed.end(); });
  if (declared.common.help) {
    const CommandInfo info = of_verb(declared.describe(), meant.words);
    return print(all ? full_help_text(info, help_width()) : help_text(info, help_width()));
  }
  if (meant.refusal) return refuse({*meant.refusal}, without_assumed, known, said);
  if (!parsed) return refuse(parsed.error(), without_assumed, known, said);
  const Result<report::Format> format = report::parse_format(declared.common.format);
  if (!format) return refuse({format.error()}, without_assumed, known, said);
  Checked<Outcome> outcome = [&] {
    const ProgressWatch watch;
    return declared.run();
  }();
  if (!outcome) return refuse(outcome.error(), without_assumed, known, said);
  if (cancelled()) {
    note("interrupted: the output covers the work done so far");
    outcome->exit_code = kInterrupted;
  }
  // A table without rows does not show why it has none.
  const bool data = *format == report::Format::kCsv || *format == report::Format::kJson;
  if (data && outcome->exit_code == kNoFeasibleAnswer && !outcome->report.blocks.empty()) {
    if (const auto* why = std::get_if<report::Paragraph>(&outcome->report.blocks.front())) note(why->text);
  }
  const int written = print(report::render(outcome->report, *format, terminal_style(declared.common)));
  return written == kDone ? outcome->exit_code : written;
}

// Refuses a line without a command, and suggests one that runs.
int refuse_command(const std::vector<std::string>& words, bool sentence) {
  const bool flag = words.front().starts_with('-');
  const int code = print_error({sentence ? bad_input("the question is not understood")
                                : flag   ? bad_input(fmt::format("'{}' needs a command", words.front()))
                                         : unknown_command(words.front())});
  const TrialTime time(kSecondsOfTrials);
  int runs = 0;
  const Trial trial = [&](const auto& tried) { return runs < kMostRuns ? try_out(tried, runs) : Errors{}; };
  for (const std::vector<std::string>& line : lines_without_command(words)) {
    if (!only_reads(line)) continue;
    const std::deque<FlagInfo> known = DeclaredCommand(*find_command(line.front())).describe().flags;
    const auto nearest = trial(line) ? repaired(line, known, trial) : line;
    if (!nearest) continue;
    for (const std::string& note : changes(line, *nearest, known)) std::cerr << "note: " << note << '\n';
    return std::cerr << "try: " << as_typed(*nearest) << '\n', code;
  }
  std::cerr << "try: rightsize --help\n";
  return code;
}

int run(int argc, char** argv) {
  Typed typed = meant_command({argv + 1, argv + argc}, names_and_topics());
  if (const auto done = run_manual(typed.words)) return *done;
  const std::string first = typed.words.empty() ? "" : typed.words.front();
  if (const Command* command = find_command(first)) return run_command(*command, std::move(typed));
  if (first == "--version" || first == "-V") return print(version_line());
  if (first == "--help" || first == "-h") return print(overview_text(describe_all(), help_width()));
  if (first.empty()) return std::cerr << overview_text(describe_all(), help_width()), exit_code(bad_input(""));
  return refuse_command(typed.words, std::string_view(argv[1]).starts_with(first + " "));
}

// The error for an exception that nothing else caught. Running out of memory or threads is not a bug of the program.
Error stopped_by(const std::exception& problem, const char* with) {
  const auto* system = dynamic_cast<const std::system_error*>(&problem);
  if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ||
      (system != nullptr && system->code() == std::errc::resource_unavailable_try_again))
    return unreadable("not enough memory").with_hint("check 'ulimit -v' and the memory limit of the container");
  return bug(problem.what()).with_hint(fmt::format("please report this, with the {}", with));
}

// Memory can run out where exceptions are not allowed, for example while a thread ends. Reports that and exits.
[[noreturn]] void end_without_unwinding() {
  const std::type_info* problem = abi::__cxa_current_exception_type();
  if (problem == nullptr || *problem != typeid(std::bad_alloc)) std::abort();
  static constexpr std::string_view kText = "error: not enough memory\n";
  std::fwrite(kText.data(), 1, kText.size(), stderr);
  std::_Exit(3);
}

}  // namespace

Checked<Outcome> call(const std::string& command, const std::vector<std::string>& words) {
  const Command* found = find_command(command);
  if (found == nullptr) return fail(unknown_command(command));
  DeclaredCommand declared(*found);
  if (Checked<void> parsed = parse(declared, words); !parsed) return fail(std::move(parsed).error());
  if (declared.common.help) return fail(bad_input("--help works on the command line only"));
  try {
    return declared.run();
  } catch (const std::exception& unexpected) {
    return fail(stopped_by(unexpected, "call"));
  }
}

Result<CommandInfo> describe_command(const std::string& name) {
  const Command* command = find_command(name);
  if (command == nullptr) return fail(unknown_command(name));
  return DeclaredCommand(*command).describe();
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int run_program(int argc, char** argv) {
  std::set_terminate(end_without_unwinding);
  try {
    return run(argc, argv);
  } catch (const std::exception& unexpected) {
    return print_error({stopped_by(unexpected, "command")});
  }
}

}  // namespace rightsize::app
