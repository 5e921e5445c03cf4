// rightsize init: a workload file to begin with, from flags or from answers to a few questions.
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "model/presets.h"
#include "perf/perf.h"
#include "plan/write_workload_file.h"
#include "rightsize/command.h"
#include "rightsize/input/workload_input.h"

namespace rightsize::app {
namespace {

using model::Setting;
using Settings = std::vector<Setting>;

struct Flags {
  WorkloadFlags workload;
  std::string output, catalog;
  bool ask = false, force = false;
};

// Asks on standard error, so that standard output holds nothing but the file.
class Interview {
 public:
  explicit Interview(const catalog::Catalog& catalog) : catalog_(catalog) {}

  // Fails when the answers end before a good one came.
  Result<Settings> hold() {
    const Result<std::string> kind = ask("What is run: train, serve or offline (work nobody waits for)?", "train",
                                         [](const std::string& text) -> std::string {
                                           const bool known = text == "train" || text == "serve" || text == "offline";
                                           return known ? "" : "train, serve or offline";
                                         });
    if (!kind) return fail(kind.error());
    answers_.push_back({"job", *kind == "train" ? "train" : "serve", {}});
    if (Result<> done = ask_model(); !done) return fail(std::move(done).error());
    const Result<> asked = *kind == "train" ? ask_training() : *kind == "serve" ? ask_serving() : ask_offline();
    if (!asked) return fail(asked.error());
    if (Result<> done = ask_limits(*kind != "serve"); !done) return fail(std::move(done).error());
    return answers_;
  }

 private:
  using Complaint = std::function<std::string(const std::string&)>;  // empty: the answer is good

  Result<std::string> ask(const std::string& question, const std::string& usual, const Complaint& complaint) {
    for (;;) {
      std::cerr << question << (usual.empty() ? " [none] " : " [" + usual + "] ") << std::flush;
      std::string answer;
      const bool more = static_cast<bool>(std::getline(std::cin, answer));
      if (isatty(STDIN_FILENO) == 0) std::cerr << "\n";
      answer = std::string(trim(answer));
      if (answer.empty()) return usual;
      const std::string wrong = complaint(answer);
      if (wrong.empty()) return answer;
      std::cerr << "  " << wrong << "\n";
      if (!more) return fail(bad_input("the answers ended before a good one came"));
    }
  }

  // A setting of the request; an empty answer leaves it out. Its own mistakes are those that name its flag.
  Result<> ask_setting(const std::string& name, const std::string& question, const std::string& usual) {
    const auto complaint = [&](const std::string& text) -> std::string {
      Settings trial = answers_;
      trial.push_back({name, text, {}});
      const Checked<plan::Request> request = plan::read_request(trial, catalog_);
      if (request) return {};
      for (const Error& error : request.error()) {
        if (error.message.starts_with("--" + name + ": "))
          return error.message.substr(name.size() + 4) + (error.hints.empty() ? "" : "; " + error.hints.front());
      }
      return {};
    };
    Result<std::string> answer = ask(question, usual, complaint);
    if (!answer) return fail(std::move(answer).error());
    if (!answer->empty()) answers_.push_back({name, *answer, {}});
    return {};
  }

  Result<> ask_model() {
    const auto complaint = [](const std::string& text) -> std::string {
      const auto model = model::find_model(text);
      if (model) return {};
      const Error& error = model.error().front();
      return error.message + (error.hints.empty() ? "" : "; " + error.hints.front());
    };
    Result<std::string> model =
        ask("Which model? A name of 'rightsize models' or a config.json", "llama-3.1-8b", complaint);
    if (!model) return fail(std::move(model).error());
    answers_.push_back({"model", *model, {}});
    if (const auto shape = model::find_model(*model)) {
      image_ = shape->image_size > 0;
      in_batches_ = perf::serves_batches(perf::work_of(*shape));
    }
    return {};
  }

  Result<> ask_training() {
    if (image_) return ask_setting("samples", "How many images to train on, all epochs together?", "10M");
    if (Result<> done = ask_setting("tokens", "How many tokens to train on?", "100M"); !done) return done;
    return ask_setting("method", "Train every weight (full), or adapters (lora, qlora)? A list compares", "full");
  }

  Result<> ask_sizes() {
    if (in_batches_) return {};
    if (Result<> done = ask_setting("isl", "Tokens in a request?", "1024"); !done) return done;
    return ask_setting("osl", "Tokens in an answer?", "256");
  }

  Result<> ask_serving() {
    if (Result<> done = ask_setting("rate", "How many requests arrive?", "10/s"); !done) return done;
    if (Result<> done = ask_sizes(); !done) return done;
    if (in_batches_) return ask_setting("ttft-slo", "The answer within?", "100ms");
    if (Result<> done = ask_setting("ttft-slo", "The first token within?", "1s"); !done) return done;
    return ask_setting("tpot-slo", "Each further token within?", "50ms");
  }

  Result<> ask_offline() {
    if (Result<> done = ask_setting("items", "How many items are there to work through?", "1M"); !done) return done;
    return ask_sizes();
  }

  Result<> ask_limits(bool ends) {
    if (ends) {
      if (Result<> done = ask_setting("deadline", "Must it be done within some time, e.g. 14d?", ""); !done)
        return done;
    }
    if (Result<> done = ask_setting(
            "budget", ends ? "At most how much, e.g. 500USD?" : "At most how much a month, e.g. 500USD?", "");
        !done)
      return done;
    return ask_setting("providers", "Only some providers, e.g. aws,gcp?", "");
  }

  const catalog::Catalog& catalog_;
  Settings answers_;
  bool image_ = false, in_batches_ = false;
};

// Nothing said and nobody to ask: something that works and shows how it looks.
Settings example() { return {{"model", "llama-3.1-8b", {}}, {"job", "train", {}}, {"tokens", "100M", {}}}; }

Result<Settings> settings_of(const Flags& flags, const catalog::Catalog& catalog) {
  Settings given;
  for (const auto& [name, value] : flags.workload.settings) given.push_back({name, value, {}});
  if (flags.ask || (given.empty() && isatty(STDIN_FILENO) != 0)) {
    if (!given.empty()) return fail(bad_input("--ask asks for everything").with_hint("give flags, or --ask, not both"));
    return Interview(catalog).hold();
  }
  return given.empty() ? example() : given;
}

Result<> write(const Flags& flags, const std::string& text) {
  if (!flags.force && std::filesystem::exists(flags.output))
    return fail(bad_input(fmt::format("'{}' is there already", flags.output)).with_hint("--force writes over it"));
  return write_file(flags.output, text);
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  Result<Settings> settings = settings_of(flags, catalog);
  if (!settings) return fail(one(std::move(settings).error()));
  if (auto request = plan::read_request(*settings, catalog); !request) return fail(std::move(request).error());
  const std::string text = plan::write_workload_file(*settings);
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/init/1"}, {"file", nullptr}, {"text", text}};
  if (flags.output.empty()) {
    outcome.report.blocks = {report::Verbatim{"", text}};
    return outcome;
  }
  if (Result<> written = write(flags, text); !written) return fail(one(std::move(written).error()));
  outcome.report.document["file"] = flags.output;
  outcome.report.blocks = {report::Paragraph{fmt::format("Wrote {0}\nNext: rightsize recommend {0}", flags.output)}};
  return outcome;
}

}  // namespace

Run add_init(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_setting_flags(command, flags->workload);
  command.add_option("--output,-o", flags->output, "where to write; without it, to standard output")->type_name("FILE");
  command.add_flag("--ask", flags->ask, "ask for what is needed, also when standard input is no terminal");
  command.add_flag("--force", flags->force, "write over a file that is there");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
