// rightsize: parses the command line, runs one command, prints its report. The only place that prints errors and
// chooses an exit code. entry.cc holds main(): everything else is a library, which other front ends link.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>

#include <CLI/CLI.hpp>
#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/long_work.h"
#include "base/suggest.h"
#include "base/text.h"
#include "report/report.h"
#include "rightsize/call.h"
#include "rightsize/command.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/manual/manual.h"
#include "rightsize/manual/schemas.h"
#include "rightsize/progress.h"
#include "rightsize/typed/spellings.h"
#include "rightsize/typed/things.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr Command kCommands[] = {
    {"recommend",
     "which GPU, how many, from whom, on what terms, with which settings, for the least money",
     add_recommend,
     {"recommend --model llama-3.1-8b --tokens 1B --deadline 7d",
      "recommend --job serve --model llama-3.1-70b --rate 5/s --ttft-slo 2s --tpot-slo 50ms"}},
    {"init",
     "write a starter workload file, from flags or a short interview",
     add_init,
     {"init --model llama-3.1-8b --job train --tokens 1B",
      "init --job serve --model llama-3.1-70b --rate 5/s --ttft-slo 2s"}},
    {"checklist",
     "profile, bottleneck, size, cloud, commitment: what is known, and what to measure next",
     add_checklist,
     {"checklist examples/recommend/fine-tune-7b.yaml",
      "checklist --job serve --model bert-large --rate 100/s --ttft-slo 50ms"}},
    {"estimate",
     "how fast a job runs on a GPU, its bottleneck, and the confidence interval",
     add_estimate,
     {"estimate llama-3.1-8b h100-sxm --job serve --concurrency 32",
      "estimate llama-3.1-8b h100-sxm --batch 4 --seq 2048 --gpus 8 --zero 3"}},
    {"batch",
     "latency of a batching server, and the cheapest setting that keeps every SLO",
     add_batch,
     {"batch --model bert-large --gpu l4 --arrivals poisson:200 --slo p99=100ms",
      "batch --model llama-3.1-8b --gpu h100-sxm --arrivals poisson:8 --isl 1024 --osl 256 --slo "
      "ttft=500ms,tpot=40ms"}},
    {"calibrate",
     "fit the speed model to your stack on your GPU, from your own measurements",
     add_calibrate,
     {"calibrate examples/calibrate/measured.csv --dry-run",
      "calibrate examples/calibrate/measured.csv --dry-run --format json"}},
    {"commit",
     "how much capacity to commit to, for how long, and what that risks",
     add_commit,
     {"commit --base 8,peak=20,share=0.3 --gpu h100-sxm --provider gcp",
      "commit --usage examples/commit/usage.csv --on-demand 4 --one-year 2.6 --three-years 1.9"}},
    {"decide",
     "record a plan as a decision: predictions, facts, who and why",
     add_decide,
     {"decide --from examples/decisions/plan.json --workload chat --before 9200 --dry-run",
      "decide --from examples/decisions/plan.json --workload chat --team search --why 'cheaper at the same SLO' "
      "--dry-run"}},
    {"decisions",
     "the ledger of decisions: list, show, export; savings to date; review for cron",
     add_decisions,
     {"decisions list --ledger examples/decisions/ledger.db",
      "decisions show chat --ledger examples/decisions/ledger.db"}},
    {"diff",
     "what a change of GPU requests in Kubernetes, SkyPilot, Slurm or Terraform files costs",
     add_diff,
     {"diff examples/ci/before examples/ci/after", "diff examples/ci/before examples/ci/after --format md"}},
    {"exporter",
     "a fleet's verdicts and dollars as Prometheus metrics",
     add_exporter,
     {"exporter --help", "exporter --help"}},
    {"fleet",
     "what a fleet's GPUs cost, how much of it is wasted, who wastes it, and what saves most",
     add_fleet,
     {"fleet --from examples/fleet/cluster.json --price 2.49",
      "fleet --from examples/fleet/cluster.json --price 2.49 --format json"}},
    {"gpus",
     "the GPUs of the catalogue: memory, bandwidth, speed per number format",
     add_gpus,
     {"gpus h100", "gpus --min-memory 80GiB --sort bandwidth"}},
    {"memory",
     "GPU memory a job needs, part by part; whether it fits, and how to free some",
     add_memory,
     {"memory llama-3.1-8b h100-sxm --batch 4 --seq 2048",
      "memory llama-3.1-70b h200-sxm --job serve --isl 4096 --concurrency 16"}},
    {"mig",
     "many small models on few GPUs: slices, layouts, repacking, and what sharing saves",
     add_mig,
     {"mig examples/mig/workloads.yaml", "mig --gpu h100-sxm --list-layouts"}},
    {"models",
     "model shapes: parameters, layers, heads; built-in or from a config.json",
     add_models,
     {"models qwen", "models llama-3.1-70b"}},
    {"prices",
     "what machines cost: per hour, per GPU, per TFLOP, per GB/s; how old each price is",
     add_prices,
     {"prices h100 --provider aws,gcp --region us", "prices spot --gpu h100-sxm --hours 100"}},
    {"profile",
     "what a workload really does to a GPU: bottleneck, waste, and what to do",
     add_profile,
     {"profile --replay examples/profile/train.csv", "profile --replay examples/profile/train.csv --format json"}},
    {"serve",
     "the commands as a web page and a JSON API",
     add_serve,
     {"serve --openapi", "serve --openapi --format json"}},
    {"rollout",
     "roll a decision out in stages (one job, 10 %, 50 %, all), each checked, with its rollback",
     add_rollout,
     {"rollout status chat --ledger examples/decisions/ledger.db",
      "rollout status chat --ledger examples/decisions/ledger.db --format json"}},
    {"service",
     "a running LLM service from its own metrics: traffic, latency, cost, and what would cost less",
     add_service,
     {"service --from examples/service/metrics.txt.gz --gpu h200-sxm --price h200-sxm=3.50 --slo ttft=1s,tpot=50ms",
      "service --from examples/service/metrics.txt.gz --gpu h200-sxm --price h200-sxm=3.50 --slo tpot=50ms --emit "
      "keda"}},
    {"top", "every GPU of this machine, live: bottleneck, cost and waste", add_top, {"top --help", "top --help"}},
    {"verify",
     "a decision's predictions against measurements: kept, broken, or how many more samples",
     add_verify,
     {"verify chat --ledger examples/decisions/ledger.db",
      "verify chat --ledger examples/decisions/ledger.db --format json"}},
    {"window",
     "work that can wait: GPUs, schedule and cost in windows, against real time",
     add_window,
     {"window --volume 1M/d --item-time 82ms --gpu a100-80gb-sxm --window 4h",
      "window --volume 40k/h --item-time 80ms --gpu l4 --slo p99=250ms --peak 3"}},
};

constexpr int kInterrupted = 130;  // as shells count: 128 and SIGINT

// A command, with its flags and what to run.
struct Named {
  explicit Named(CLI::App& command) : flags(command) {}

  FlagSet flags;
  Run run;
};

// What every command takes.
struct Common {
  std::string format = "text";
  bool wide = false, quiet = false, help = false;
};

// The commands, with the flags of one of them or of all: to declare all of them takes longer than most answers.
class CommandLine {
 public:
  // `only`: the command whose flags are declared; empty: all.
  explicit CommandLine(std::string_view only) {
    root.name("rightsize");
    root.set_help_flag();
    root.add_flag("-h,--help", common.help);
    root.add_flag("-V,--version", version);
    root.require_subcommand(0, 1);
    for (const Command& command : kCommands) {
      CLI::App* sub = root.add_subcommand(command.name, command.summary);
      sub->set_help_flag();
      if (only.empty() || only == command.name) declare(command, *sub);
    }
  }

  CommandInfo describe(const Command& command) {
    CommandInfo info{command.name, command.summary, {}, {}};
    for (const char* example : command.examples) {
      if (std::string_view(example).find("--help") == std::string_view::npos) info.examples.emplace_back(example);
    }
    const auto found = named.find(root.get_subcommand(command.name));
    if (found != named.end()) info.flags = found->second.flags.declared();
    sort_into_groups(info.flags);
    return info;
  }

  std::vector<CommandInfo> describe_all() {
    std::vector<CommandInfo> all;
    for (const Command& command : kCommands) all.push_back(describe(command));
    return all;
  }

  CLI::App root;
  std::map<const CLI::App*, Named> named;
  Common common;
  bool version = false;

 private:
  void declare(const Command& command, CLI::App& sub) {
    Named& added = named.try_emplace(&sub, sub).first->second;
    added.run = command.add(added.flags);
    added.flags.group("Output");
    added.flags.add_option("--format", common.format, "how it is written")
        ->type_name("text|json|csv|md|html")
        ->default_str("text");
    added.flags.add_flag("--wide", common.wide, "tables as wide as they are, whatever the terminal's width");
    added.flags.add_flag("--quiet,-q", common.quiet, "the answer in one line");
    added.flags.add_flag("--help,-h", common.help, "show this help");
  }
};

// The commands that have a flag.
std::vector<std::string> commands_with(const std::string& flag) {
  CommandLine all("");
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    const auto flags = all.describe(command).flags;
    if (std::any_of(flags.begin(), flags.end(), [&](const FlagInfo& info) { return info.name == flag; }))
      names.push_back(fmt::format("'{}'", command.name));
  }
  return names;
}

Error unknown_flag(const std::string& word, const CLI::App& app, bool command) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string hint = fmt::format("'rightsize {}--help' lists the flags", command ? app.get_name() + " " : "");
  // By its own name, or by another tool's.
  std::vector<std::string> others = commands_with(flag);
  for (const Spelling& spelling : spellings()) {
    if (others.empty() && spelling.typed == to_lower(flag) && !spelling.flag.empty())
      others = commands_with(std::string(spelling.flag));
  }
  std::erase(others, fmt::format("'{}'", app.get_name()));
  if (command && !others.empty()) {
    return bad_input(fmt::format("'{}' takes no {}: that belongs to {}", app.get_name(), flag, fmt::join(others, ", ")))
        .with_hint(hint);
  }
  return bad_input(fmt::format("unknown flag '{}'", word)).with_hint(did_you_mean(flag, known)).with_hint(hint);
}

Error unknown_command(const std::string& typed) {
  const Thing thing = thing_named(typed);
  std::string word = typed;  // as it can be typed again: "llama 3.1 70b" is llama-3.1-70b
  std::replace(word.begin(), word.end(), ' ', '-');
  if (thing == Thing::kGpu) {
    return bad_input(fmt::format("'{}' is a GPU, not a command", word))
        .with_hint(fmt::format("'rightsize gpus {0}' shows what it is, 'rightsize prices {0}' what it costs", word));
  }
  if (thing == Thing::kModel) {
    return bad_input(fmt::format("'{}' is a model, not a command", word))
        .with_hint(
            fmt::format("'rightsize recommend {0} --tokens 1B' plans its training, 'rightsize recommend {0} --job "
                        "serve --rate 5/s' a service",
                        word))
        .with_hint(fmt::format(
            "'rightsize memory {0}' shows what it needs, 'rightsize estimate {0} h100' how fast it is", word));
  }
  return bad_input(fmt::format("unknown command '{}'", word))
      .with_hint(did_you_mean(word, command_names()))
      .with_hint("'rightsize --help' lists the commands");
}

// "--method: At Most 1 required but received 2", "--model: 1 required TEXT missing".
std::string in_our_words(const std::string& said) {
  const std::string flag = said.substr(0, said.find(": "));
  if (said.find(": At Most 1 required") != std::string::npos)
    return fmt::format("{} is given more than once: give it once", flag);
  constexpr std::string_view kMissing = ": 1 required ";
  const std::size_t missing = said.find(kMissing);
  if (missing == std::string::npos) return said;
  std::string kind = said.substr(missing + kMissing.size());
  kind = kind.substr(0, kind.rfind(" missing"));
  const bool named = kind.empty() || kind == "TEXT" || kind == "NAME";
  return named ? fmt::format("{} needs a value", flag) : fmt::format("{} needs a value: {}", flag, kind);
}

// CLI11's exceptions, said in our words.
Error explain(const CLI::ParseError& failure, const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  const CLI::App& app = chosen.empty() ? root : *chosen.front();
  const std::vector<std::string> extras = chosen.empty() ? root.remaining() : app.remaining();
  if (!extras.empty()) {
    const std::string& word = extras.front();
    if (word.starts_with("-")) return unknown_flag(word, app, !chosen.empty());
    if (chosen.empty()) return unknown_command(word);
    return bad_input(fmt::format("'{}' takes no argument '{}'", app.get_name(), word))
        .with_hint(fmt::format("'rightsize {} --help' shows what it takes; put a value with spaces in quotes",
                               app.get_name()));
  }
  Error error = bad_input(in_our_words(failure.what()));
  if (!chosen.empty()) error.hints.push_back(fmt::format("'rightsize {} --help' explains the flags", app.get_name()));
  return error;
}

// The width text is written to: COLUMNS, else the terminal's; nothing where it goes into a file or a pipe.
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
  style.colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
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

// "rightsize 0.1.0 (commit 0123456789ab)"
std::string version_line() {
  const std::string_view commit = RIGHTSIZE_COMMIT;
  return fmt::format("rightsize {}{}\n", RIGHTSIZE_VERSION, commit.empty() ? "" : fmt::format(" (commit {})", commit));
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& command) { return name == command.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

// `help [COMMAND]`, `completion SHELL`, `manual [COMMAND]`, `schema [NAME]`: what the program says about itself.
// Nothing when the first word is none of these.
std::optional<int> run_manual(const std::vector<std::string>& words) {
  const std::string topic = words.empty() ? "" : words[0];
  if (topic != "help" && topic != "completion" && topic != "manual" && topic != "schema") return std::nullopt;
  const std::string asked = words.size() > 1 ? words[1] : "";
  if (topic == "schema") {
    const Result<std::string> text = schema_text(asked);
    return text ? print(*text) : print_error({text.error()});
  }
  CommandLine line("");
  if (topic == "completion") {
    const auto script = completion_script(asked, line.describe_all(), known_values());
    return script ? print(*script) : print_error({script.error()});
  }
  // A manual page is for man(1); at a terminal people want to read it.
  const bool readable = topic == "help" || isatty(STDOUT_FILENO) != 0;
  if (asked.empty() || asked.starts_with('-')) {
    return print(readable ? overview_text(line.describe_all(), help_width()) : overview_page(line.describe_all()));
  }
  const auto meant = meant_command({asked}, command_names());
  if (!meant) return print_error({meant.error()});
  const Command* command = find_command(meant->words.front());
  if (command == nullptr) return print_error({unknown_command(asked)});
  return print(readable ? help_text(line.describe(*command), help_width()) : manual_page(line.describe(*command)));
}

std::vector<std::string> names_and_topics() {
  std::vector<std::string> names = command_names();
  names.insert(names.end(), {"help", "completion", "manual", "schema"});
  return names;
}

// "--serve is --job serve here" and "--ttft is --ttft-slo here" in one line.
std::vector<std::string> joined_notes(const std::vector<std::string>& notes) {
  constexpr std::string_view kHere = " here";
  std::string renamed;
  std::vector<std::string> others;
  for (const std::string& text : notes) {
    if (text.ends_with(kHere)) {
      renamed += (renamed.empty() ? "" : ", ") + text.substr(0, text.size() - kHere.size());
    } else {
      others.push_back(text);
    }
  }
  if (!renamed.empty()) others.insert(others.begin(), renamed.append(kHere));
  return others;
}

// The words behind the program's name, by our names; what was read as what is said on standard error.
Result<std::vector<std::string>> read_words(Typed typed, CommandLine& line) {
  if (const Command* command = typed.words.empty() ? nullptr : find_command(typed.words.front())) {
    RIGHTSIZE_TRY(typed, meant_flags(std::move(typed), line.describe(*command).flags));
  }
  if (typed.plain) setenv("NO_COLOR", "1", 1);
  for (const std::string& text : joined_notes(typed.notes)) note(text);
  return std::move(typed.words);
}

int run(int argc, char** argv) {
  Result<Typed> typed = meant_command({argv + 1, argv + argc}, names_and_topics());
  if (!typed) return print_error({typed.error()});
  if (const auto done = run_manual(typed->words)) return *done;
  CommandLine line(typed->words.empty() || find_command(typed->words.front()) == nullptr ? "-" : typed->words.front());
  Result<std::vector<std::string>> words = read_words(*std::move(typed), line);
  if (!words) return print_error({words.error()});
  CLI::App& root = line.root;
  bool parsed = false;
  try {
    std::reverse(words->begin(), words->end());  // as the library takes them
    root.parse(*std::move(words));
    parsed = true;
  } catch (const CLI::ParseError& failure) {
    if (!line.common.help) return print_error({explain(failure, root)});
  }
  const auto chosen = root.get_subcommands();
  if (line.version) return print(version_line());
  if (line.common.help && !chosen.empty())
    return print(help_text(line.describe(*find_command(chosen.front()->get_name())), help_width()));
  if (line.common.help) return print(overview_text(line.describe_all(), help_width()));
  if (!parsed || chosen.empty()) {
    std::cerr << overview_text(line.describe_all(), help_width());
    return exit_code(bad_input(""));
  }
  Result<report::Format> format = report::parse_format(line.common.format);
  if (!format) return print_error({format.error()});
  Checked<Outcome> outcome = [&] {
    const ProgressWatch watch;
    return line.named.at(chosen.front()).run();
  }();
  if (!outcome) return print_error(outcome.error());
  if (cancelled()) {
    note("stopped before the end: what follows rests on what was done until then");
    outcome->exit_code = kInterrupted;
  }
  const int written = print(report::render(outcome->report, *format, terminal_style(line.common)));
  return written == kDone ? outcome->exit_code : written;
}

// What ended a command although nothing in it expects it. No memory, and with it no thread, is not ours to mend.
Error stopped_by(const std::exception& problem, const char* with) {
  const auto* system = dynamic_cast<const std::system_error*>(&problem);
  if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ||
      (system != nullptr && system->code() == std::errc::resource_unavailable_try_again))
    return unreadable("not enough memory")
        .with_hint("'ulimit -v' and the memory limit of a container bound what there is");
  return bug(problem.what()).with_hint(fmt::format("please report this, with the {}", with));
}

// Memory may run out where nothing may be thrown, as while a thread ends: what is left then is to say so.
[[noreturn]] void end_without_unwinding() {
  const std::type_info* problem = abi::__cxa_current_exception_type();
  if (problem == nullptr || *problem != typeid(std::bad_alloc)) std::abort();
  static constexpr std::string_view kText = "error: not enough memory\n";
  std::fwrite(kText.data(), 1, kText.size(), stderr);
  std::_Exit(3);
}

}  // namespace

Checked<Outcome> call(const std::string& command, const std::vector<std::string>& words) {
  if (find_command(command) == nullptr) return fail(Errors{unknown_command(command)});
  CommandLine line(command);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as the library takes them
  reversed.push_back(command);
  try {
    line.root.parse(std::move(reversed));
  } catch (const CLI::ParseError& failure) {
    return fail(Errors{explain(failure, line.root)});
  }
  if (line.common.help) return fail(Errors{bad_input("--help is for the program, not for calls of a command")});
  try {
    return line.named.at(line.root.get_subcommands().front()).run();
  } catch (const std::exception& unexpected) {
    return fail(Errors{stopped_by(unexpected, "call")});
  }
}

Result<CallInfo> describe_command(const std::string& name) {
  const Command* command = find_command(name);
  if (command == nullptr) return fail(unknown_command(name));
  CommandLine line(name);
  CallInfo info{line.describe(*command), {}};
  for (const CLI::Option* option : line.root.get_subcommand(name)->get_options()) {
    if (option->get_items_expected_max() <= 1) continue;
    for (const std::string& flag : option->get_lnames()) info.repeatable.insert("--" + flag);
  }
  return info;
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
