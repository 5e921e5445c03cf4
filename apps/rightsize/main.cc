// rightsize: parses the command line, runs one command, prints its report. The only place that prints errors and
// chooses an exit code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/suggest.h"
#include "report/report.h"
#include "rightsize/command.h"

namespace rightsize::app {
namespace {

constexpr Command kCommands[] = {
    {"recommend", "which GPU, how many, from whom, on what terms, with which settings, for the least money",
     add_recommend},
    {"init", "a workload file to begin with, from flags or from answers to a few questions", add_init},
    {"checklist", "profile, bottleneck, size, cloud, commitment: what is known, and what to measure next",
     add_checklist},
    {"estimate", "how fast a job runs on a GPU, what binds it, and how sure that is", add_estimate},
    {"batch", "latency of a batching server, and the cheapest setting that keeps every SLO", add_batch},
    {"calibrate", "your own measurements teach the speed model your stack on your GPU", add_calibrate},
    {"exporter", "a fleet's verdicts and dollars as Prometheus metrics", add_exporter},
    {"fleet", "what a fleet's GPUs cost, how much of it is wasted, who wastes it, and what saves most", add_fleet},
    {"gpus", "the GPUs of the catalogue: memory, bandwidth, speed per number format", add_gpus},
    {"memory", "what a job needs on a GPU, where it goes, whether it fits, and what frees some", add_memory},
    {"mig", "many small models on few GPUs: slices, layouts, repacking, and what sharing saves", add_mig},
    {"models", "model shapes: parameters, layers, heads; built-in or from a config.json", add_models},
    {"prices", "what machines cost: per hour, per GPU, per TFLOP, per GB/s; how old each price is", add_prices},
    {"profile", "what a workload really does to a GPU: what binds it, what it wastes, what to do", add_profile},
    {"service", "a running LLM service from its own metrics: traffic, latency, cost, and what would cost less",
     add_service},
    {"top", "every GPU of this machine, live: what binds it, what it costs, what of that is wasted", add_top},
    {"window", "work that can wait: GPUs, schedule and cost in windows, against real time", add_window},
};

constexpr const char* kFooter =
    "\nExit codes: 0 done, 1 bad input, 2 no feasible answer, 3 a source could not be read, 70 a bug of ours.\n"
    "'rightsize COMMAND --help' explains a command.";

// The long names of a command's flags, for suggestions.
std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11's exceptions, said in our words.
Error explain(const CLI::ParseError& failure, const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  const CLI::App& app = chosen.empty() ? root : *chosen.front();
  std::vector<std::string> extras = chosen.empty() ? root.remaining() : app.remaining();
  if (!extras.empty()) {
    const std::string& word = extras.front();
    if (word.starts_with("-")) {
      return bad_input(fmt::format("unknown flag '{}'", word))
          .with_hint(did_you_mean(word.substr(0, word.find('=')), flag_names(app)))
          .with_hint(fmt::format("'rightsize {}--help' lists the flags", chosen.empty() ? "" : app.get_name() + " "));
    }
    if (chosen.empty()) {
      std::vector<std::string> names;
      for (const Command& command : kCommands) names.emplace_back(command.name);
      return bad_input(fmt::format("unknown command '{}'", word))
          .with_hint(did_you_mean(word, names))
          .with_hint("'rightsize --help' lists the commands");
    }
    return bad_input(fmt::format("'{}' takes no argument '{}'", app.get_name(), word))
        .with_hint(fmt::format("'rightsize {} --help' shows what it takes", app.get_name()));
  }
  return bad_input(failure.what());
}

// A command that was named, with its flags and what to run.
struct Named {
  explicit Named(CLI::App& command) : flags(command) {}

  FlagSet flags;
  Run run;
};

// Unknown words must reach explain() instead of stopping CLI11 early.
void declare_root(CLI::App& root, std::map<const CLI::App*, Named>& named, std::span<char*> words,
                  std::string& format) {
  root.name("rightsize");
  root.set_version_flag("--version", std::string("rightsize ") + RIGHTSIZE_VERSION);
  root.set_help_flag("-h,--help", "show this help");
  root.footer(kFooter);
  root.require_subcommand(0, 1);
  for (const Command& command : kCommands) {
    CLI::App* sub = root.add_subcommand(command.name, command.summary);
    sub->set_help_flag("-h,--help", "show this help");
    // Only the command that is asked for declares its flags: those of all of them take longer than most answers.
    const bool is_named = std::any_of(words.begin(), words.end(),
                                      [&](const char* word) { return std::string_view(word) == command.name; });
    if (!is_named) continue;
    Named& added = named.try_emplace(sub, *sub).first->second;
    added.run = command.add(added.flags);
    added.flags.add_option("--format", format, "text, json, csv, md or html")->default_str("text");
  }
}

report::Style terminal_style() {
  report::Style style;
  style.colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return style;
}

int run(int argc, char** argv) {
  CLI::App root{"Which GPU a workload needs, from whom, on what terms, for the least money."};
  std::map<const CLI::App*, Named> named;
  std::string format_name = "text";
  declare_root(root, named, std::span(argv, static_cast<std::size_t>(argc)), format_name);
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    return root.exit(asked);
  } catch (const CLI::ParseError& failure) {
    std::cerr << describe(explain(failure, root));
    return exit_code(bad_input(""));
  }
  if (root.get_subcommands().empty()) {
    std::cerr << root.help();
    return exit_code(bad_input(""));
  }
  Result<report::Format> format = report::parse_format(format_name);
  if (!format) {
    std::cerr << describe(format.error());
    return exit_code(format.error());
  }
  Checked<Outcome> outcome = named.at(root.get_subcommands().front()).run();
  if (!outcome) {
    std::cerr << describe(outcome.error());
    return exit_code(outcome.error().front());
  }
  std::string text = report::render(outcome->report, *format, terminal_style());
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    std::cerr << "error: cannot write the output\n";
    return exit_code(unreadable(""));
  }
  return outcome->exit_code;
}

}  // namespace
}  // namespace rightsize::app

int main(int argc, char** argv) {
  try {
    return rightsize::app::run(argc, argv);
  } catch (const std::exception& unexpected) {
    std::cerr << rightsize::describe(
        rightsize::bug(unexpected.what()).with_hint("please report this, with the command"));
    return 70;
  }
}
