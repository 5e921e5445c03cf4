#include "rightsize/init/interview.h"

#include <functional>
#include <istream>
#include <ostream>

#include "base/text.h"
#include "families/presets.h"
#include "perf/perf.h"
#include "plan/read_request.h"

namespace rightsize::app {
namespace {

using Settings = std::vector<model::Setting>;

class Interview {
 public:
  Interview(const catalog::Catalog& catalog, std::istream& answers, std::ostream& questions, bool ends_lines)
      : catalog_(catalog), in_(answers), out_(questions), ends_lines_(ends_lines) {}

  Settings hold() {
    const std::string kind = ask("What is run: train, serve or offline (work nobody waits for)?", "train",
                                 [](const std::string& text) -> std::string {
                                   const bool known = text == "train" || text == "serve" || text == "offline";
                                   return known ? "" : "train, serve or offline";
                                 });
    answers_.push_back({"job", kind == "train" ? "train" : "serve", {}});
    ask_model();
    kind == "train" ? ask_training() : kind == "serve" ? ask_serving() : ask_offline();
    ask_limits(kind != "serve");
    return answers_;
  }

 private:
  using Complaint = std::function<std::string(const std::string&)>;  // empty: the answer is good

  std::string ask(const std::string& question, const std::string& usual, const Complaint& complaint) {
    for (;;) {
      out_ << question << (usual.empty() ? " [none] " : " [" + usual + "] ") << std::flush;
      std::string answer;
      std::getline(in_, answer);
      if (ends_lines_) out_ << "\n";
      answer = std::string(trim(answer));
      if (answer.empty()) return usual;
      const std::string wrong = complaint(answer);
      if (wrong.empty()) return answer;
      out_ << "  " << wrong << "\n";
    }
  }

  // A setting of the request; an empty answer leaves it out. Its own mistakes are those that name its flag.
  void ask_setting(const std::string& name, const std::string& question, const std::string& usual) {
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
    const std::string answer = ask(question, usual, complaint);
    if (!answer.empty()) answers_.push_back({name, answer, {}});
  }

  void ask_model() {
    const auto complaint = [](const std::string& text) -> std::string {
      const auto model = model::find_model(text);
      if (model) return {};
      const Error& error = model.error().front();
      return error.message + (error.hints.empty() ? "" : "; " + error.hints.front());
    };
    const std::string model =
        ask("Which model? A name of 'rightsize models' or a config.json", "llama-3.1-8b", complaint);
    answers_.push_back({"model", model, {}});
    if (const auto shape = model::find_model(model)) {
      image_ = shape->image_size > 0;
      in_batches_ = perf::serves_batches(perf::work_of(*shape));
    }
  }

  void ask_training() {
    if (image_) return ask_setting("samples", "How many images to train on, all epochs together?", "10M");
    ask_setting("tokens", "How many tokens to train on?", "100M");
    ask_setting("method", "Train every weight (full), or adapters (lora, qlora)? A list compares", "full");
  }

  void ask_sizes() {
    if (in_batches_) return;
    ask_setting("isl", "Tokens in a request?", "1024");
    ask_setting("osl", "Tokens in an answer?", "256");
  }

  void ask_serving() {
    ask_setting("rate", "How many requests arrive?", "10/s");
    ask_sizes();
    if (in_batches_) return ask_setting("ttft-slo", "The answer within?", "100ms");
    ask_setting("ttft-slo", "The first token within?", "1s");
    ask_setting("tpot-slo", "Each further token within?", "50ms");
  }

  void ask_offline() {
    ask_setting("items", "How many items are there to work through?", "1M");
    ask_sizes();
  }

  void ask_limits(bool ends) {
    if (ends) ask_setting("deadline", "Must it be done within some time, e.g. 14d?", "");
    ask_setting("budget", ends ? "At most how much, e.g. 500USD?" : "At most how much a month, e.g. 500USD?", "");
    ask_setting("providers", "Only some providers, e.g. aws,gcp?", "");
  }

  const catalog::Catalog& catalog_;
  std::istream& in_;
  std::ostream& out_;
  bool ends_lines_;
  Settings answers_;
  bool image_ = false, in_batches_ = false;
};

}  // namespace

Settings hold_interview(const catalog::Catalog& catalog, std::istream& answers, std::ostream& questions,
                        bool ends_lines) {
  return Interview(catalog, answers, questions, ends_lines).hold();
}

}  // namespace rightsize::app
