#include "rightsize/init/interview.h"

#include <istream>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/perf.h"
#include "plan/read_request.h"
#include "presets/presets.h"

namespace rightsize::app {
namespace {

using Settings = std::vector<model::Setting>;

struct Question {
  std::string setting, text, usual;  // without a default, an empty answer omits the setting
};

std::vector<Question> questions_about(const std::string& kind, const std::optional<model::ModelShape>& model) {
  const bool image = model && model->image_size > 0, tokens = !model || !perf::serves_batches(perf::work_of(*model));
  std::vector<Question> all;
  if (kind == "train" && image) {
    all = {{"samples", "How many images to train on, over all epochs?", "10M"}};
  } else if (kind == "train") {
    all = {{"tokens", "How many tokens to train on?", "100M"},
           {"method", "Train all weights (full) or adapters (lora, qlora)? A list compares them", "full"}};
  } else if (kind == "serve") {
    all = {{"rate", "How many requests arrive?", "10/s"}};
  } else {
    all = {{"items", "How many items are there to process?", "1M"}};
  }
  if (kind != "train" && tokens) {
    all.push_back({"isl", "Tokens in a request?", "1024"});
    all.push_back({"osl", "Tokens in a response?", "256"});
  }
  if (kind == "serve" && !tokens) all.push_back({"ttft-slo", "The response within?", "100ms"});
  if (kind == "serve" && tokens) {
    all.push_back({"ttft-slo", "The first token within?", "1s"});
    all.push_back({"tpot-slo", "Each further token within?", "50ms"});
  }
  if (kind != "serve") all.push_back({"deadline", "Must it be done within some time, e.g. 14d?", ""});
  all.push_back(
      {"budget", fmt::format("What is the most it may cost{}, e.g. 500USD?", kind == "serve" ? " per month" : ""), ""});
  all.push_back({"providers", "Only some providers, e.g. aws,gcp?", ""});
  return all;
}

// The message of the first error that begins with `prefix`; empty if there is none.
std::string complaint(const Errors& errors, const std::string& prefix = {}) {
  for (const Error& error : errors) {
    if (error.message.starts_with(prefix))
      return error.message.substr(prefix.size()) + (error.hints.empty() ? "" : "; " + error.hints.front());
  }
  return {};
}

}  // namespace

Settings hold_interview(const catalog::Catalog& catalog, std::istream& answers, std::ostream& questions,
                        bool ends_lines) {
  const auto ask = [&](const std::string& question, const std::string& usual, const auto& wrong) {
    for (;;) {
      questions << question << (usual.empty() ? " [none] " : " [" + usual + "] ") << std::flush;
      std::string answer;
      std::getline(answers, answer);
      if (ends_lines) questions << "\n";
      answer = std::string(trim(answer));
      if (answer.empty()) return usual;
      const std::string problem = wrong(answer);
      if (problem.empty()) return answer;
      questions << "  " << problem << "\n";
    }
  };
  const std::string kind =
      ask("What do you run: train, serve or offline (no latency limits)?", "train", [](const std::string& text) {
        const bool known = text == "train" || text == "serve" || text == "offline";
        return std::string(known ? "" : "train, serve or offline");
      });
  std::optional<model::ModelShape> shape;
  const std::string model =
      ask("Which model? A name from 'rightsize models' or a config.json", "llama-3.1-8b", [](const std::string& text) {
        const auto found = model::find_model(text);
        return found ? std::string() : complaint(found.error());
      });
  if (auto found = model::find_model(model)) shape = *std::move(found);
  Settings given{{"job", kind == "train" ? "train" : "serve", {}}, {"model", model, {}}};
  for (const Question& question : questions_about(kind, shape)) {
    // Errors about other settings, such as an amount that is still missing, do not concern this answer.
    const std::string answer = ask(question.text, question.usual, [&](const std::string& text) {
      Settings trial = given;
      trial.push_back({question.setting, text, {}});
      const Checked<plan::Request> request = plan::read_request(trial, catalog);
      return request ? std::string() : complaint(request.error(), "--" + question.setting + ": ");
    });
    if (!answer.empty()) given.push_back({question.setting, answer, {}});
  }
  return given;
}

}  // namespace rightsize::app
