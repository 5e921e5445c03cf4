// rightsize service: describes running LLM services from their metrics and finds cheaper ways to run them.
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/format.h"
#include "base/long_work.h"
#include "live_service/scaling_file.h"
#include "rightsize/decisions/scaling.h"
#include "rightsize/input/size_of.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

// The model of a service: given by the user, or found by its served name.
Checked<live_service::ServedModel> model_of(const ServiceInput& input, const live_service::ServiceReading& reading) {
  const NamedModel* general = nullptr;
  for (const NamedModel& named : input.models) {
    if (named.service.empty())
      general = &named;
    else if (reading.name().find(named.service) != std::string::npos || reading.model == named.service)
      return live_service::find_served_model(named.model);
  }
  Checked<live_service::ServedModel> served =
      reading.model.empty()
          ? fail(Errors(bad_input("the engine does not publish its model").with_hint("pass --model llama-3.1-8b")))
          : live_service::find_served_model(reading.model);
  if (!served && general != nullptr) return live_service::find_served_model(general->model);
  return served;
}

// The files to read. Addresses of engines (http://host:8000/metrics) are fetched into files that end with this value.
struct Scrapes {
  std::vector<std::string> paths, fetched = {};

  Scrapes() = default;
  Scrapes(Scrapes&& other) noexcept
      : paths(std::move(other.paths)), fetched(std::exchange(other.fetched, std::vector<std::string>{})) {}
  Scrapes(const Scrapes&) = delete;
  ~Scrapes() {
    for (const std::string& path : fetched) unlink(path.c_str());
  }

  static Result<Scrapes> fetch(const ServiceInput& input) {
    Scrapes files;
    http::Policy policy = input.server.policy;
    policy.tries = 1;
    for (const std::string& from : input.from) {
      if (!from.starts_with("http://") && !from.starts_with("https://")) {
        files.paths.push_back(from);
        continue;
      }
      http::Client client(input.server.auth, policy, nullptr);
      const Result<http::Answer> answer = client.get(from, {});
      constexpr int kFine = 200;
      if (!answer || answer->status != kFine) {
        Error error =
            answer ? unreadable(fmt::format("{} answered {}", http::shown_url(from), answer->status)) : answer.error();
        return fail(std::move(error).with_hint(fmt::format(
            "where the engine can be reached: curl {} > a.txt; sleep 600; curl {} > b.txt; rightsize service "
            "--from a.txt b.txt",
            http::shown_url(from), http::shown_url(from))));
      }
      std::string path = (std::filesystem::temp_directory_path() / "rightsize-scrape-XXXXXX").string();
      const int opened = mkstemp(path.data());
      if (opened < 0) return fail(unreadable(fmt::format("cannot write {}", path)));
      close(opened);
      files.fetched.push_back(path);
      files.paths.push_back(path);
      if (Result<> written = write_file(path, answer->body); !written) return fail(written.error());
    }
    return files;
  }
};

std::string first_of(const Errors& errors) {
  const Error& error = errors.front();
  return error.hints.empty() ? error.message : error.message + "; " + error.hints.front();
}

SizedService size(const ServiceInput& input, const Facts& facts, const market::PriceBook& book,
                  live_service::ServiceReading reading) {
  SizedService one;
  one.electricity = input.electricity;
  one.description = live_service::describe(reading, input.size.slos, facts.catalog, book, input.known);
  one.notes = one.description.notes;
  Checked<live_service::ServedModel> model = model_of(input, reading);
  one.reading = std::move(reading);
  if (!model) {
    one.notes.push_back("no plan: " + first_of(model.error()));
    return one;
  }
  one.model = *std::move(model);
  if (!one.reading.timed) return one;  // the notes say why
  if (Result<live_service::LearnedSpeed> learned =
          live_service::learn_speed(one.reading, one.description, *one.model, facts.constants)) {
    one.learned = *std::move(learned);
  } else {
    one.notes.push_back("speed not calibrated: " + learned.error().message);
  }
  Checked<live_service::ServedModel> planned =
      input.other_model.empty() ? *one.model : live_service::find_served_model(input.other_model);
  if (!planned) {
    one.notes.push_back("no plan: " + first_of(planned.error()));
    return one;
  }
  if (cancelled()) {
    one.notes.emplace_back("no plan: cancelled");
    return one;
  }
  Result<live_service::RightSize> sized =
      live_service::right_size(one.reading, one.description, *planned, one.learned, facts.constants, book, input.size);
  if (cancelled()) {  // an interrupted search is not a plan
    one.notes.emplace_back("no plan: cancelled");
  } else if (sized) {
    one.notes.insert(one.notes.end(), sized->notes.begin(), sized->notes.end());
    one.sized = *std::move(sized);
  } else {
    one.notes.push_back("no plan: " + sized.error().message);
  }
  return one;
}

// Compares this window with the newest decision about each service's autoscaling.
Checked<void> compare_predictions(const ServiceInput& input, ServiceFacts& all) {
  RIGHTSIZE_TRY(decisions::Ledger ledger, open_ledger(input.ledger, store::Access::kRead));
  for (SizedService& one : all.services) {
    for (const std::string& name : {one.reading.workload, one.reading.name(), one.reading.model}) {
      const Result<decisions::Decision> decision = ledger.find(name);
      if (!decision || !is_scaling(*decision)) continue;
      const auto samples = measured_scaling(*decision, one.reading, all.source);
      one.promise = Promise{decision->summary, {}};
      for (const decisions::PredictedMetric& p : decision->predictions)
        if (auto judged = decisions::judge(p, samples); judged.measured.count > 0)
          one.promise->metrics.push_back(std::move(judged));
      break;
    }
    if (!one.promise)
      one.notes.push_back(fmt::format("the ledger has no autoscale decision about '{}'", one.reading.workload));
  }
  return {};
}

// The best plan as files for other tools, one after the other.
Checked<std::string> emitted(const ServiceInput& input, const SizedService& one, const std::string& server) {
  const live_service::SizedPlan* plan = best_plan(one);
  if (plan == nullptr) {
    const std::string why = one.sized ? one.sized->unexplained : "";
    return fail(Errors(bad_input(
        fmt::format("{}: no plan to write{}", one.reading.name(), why.empty() ? "" : fmt::format(": {}", why)))));
  }
  std::string all;
  for (const std::string& name : input.emit) {
    if (!all.empty()) all += "---\n";
    if (name == "keda" || name == "hpa" || name == "deployment") {
      all += live_service::scaling_file(name, one.reading, *plan, server);
      continue;
    }
    const Result<launch::Target> target = launch::parse_target(name);
    if (!target)
      return fail(Error(target.error()).with_hint("rightsize service also writes keda, hpa, deployment and portfolio"));
    if (!plan->move || !one.sized->request) {
      return fail(
          Errors(bad_input(fmt::format("the best plan uses the current machines, so {} has nothing to rent", name))
                     .with_hint("use --emit deployment for the change, keda or hpa for scaling")));
    }
    RIGHTSIZE_TRY(const std::string text, launch::hand_over(*target, *one.sized->request, *plan->move));
    all += text;
  }
  return all;
}

}  // namespace

Checked<ServiceFacts> run_services(const ServiceInput& input, const Facts& facts, const market::PriceBook& book) {
  Result<live_service::ServicesRead> read = [&]() -> Result<live_service::ServicesRead> {
    if (input.from.empty()) return live_service::read_services(input.server);
    RIGHTSIZE_TRY(const Scrapes files, Scrapes::fetch(input));
    const LongWork counted("bytes read", size_of(files.paths));
    return live_service::read_service_files(files.paths, input.since);
  }();
  if (!read) return fail(std::move(read).error());
  ServiceFacts all;
  all.notes = read->notes;
  all.source = input.from.empty() ? fmt::format("{}, {}, {} requests", http::shown_url(input.server.url),
                                                format_duration(input.server.window), read->requests)
                                  : fmt::format("{} file{}", input.from.size(), input.from.size() == 1 ? "" : "s");
  const LongWork counted("services planned", read->services.size());
  for (live_service::ServiceReading& reading : read->services) {
    all.from = reading.timed ? reading.from : reading.until, all.until = reading.until;
    if (reading.name().find(input.only) == std::string::npos) continue;
    all.services.push_back(size(input, facts, book, std::move(reading)));
    LongWork::step();
  }
  if (!all.services.empty() && !input.ledger.ledger.empty()) {
    if (Checked<void> compared = compare_predictions(input, all); !compared) return fail(compared.error());
  }
  if (!all.services.empty()) return all;
  return fail(bad_input(fmt::format("no service name contains '{}'", input.only))
                  .with_hint("omit --service to show all of them"));
}

namespace {

Checked<Outcome> run_service(const ServiceFlags& flags) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, flags.prices));
  RIGHTSIZE_TRY(ServiceInput input, read_input(flags, facts.catalog));
  if (flags.progress || isatty(STDERR_FILENO) != 0) {
    input.server.progress = [](const std::string& what) { std::fputs(("reading " + what + "\n").c_str(), stderr); };
  }
  RIGHTSIZE_TRY(ServiceFacts all, run_services(input, facts, book));
  Outcome outcome;
  if (!input.emit.empty()) {
    if (input.emit == std::vector<std::string>{"portfolio"}) {
      all.emitted = organisation_of(all);
      if (all.emitted.empty())
        return fail(bad_input("no service has a GPU with a price, so there is no portfolio to write")
                        .with_hint("add --gpu and --price"));
    } else {
      RIGHTSIZE_TRY(all.emitted, emitted(input, all.services.front(), flags.prometheus));
    }
  }
  outcome.report = service_report(input, all);
  if (!input.emit.empty()) {
    outcome.report.blocks = {report::Verbatim{"", all.emitted}};
    outcome.report.title.clear();
  }
  return outcome;
}

}  // namespace

Run add_service(FlagSet& command) {
  auto flags = std::make_shared<ServiceFlags>();
  declare(command, *flags);
  return [flags] { return run_service(*flags); };
}

}  // namespace rightsize::app
