// Fits the constants of the speed model to data/measurements, and reports the errors of the model on them.
//
//   fit ROOT                      fit every stage; write data/efficiency.csv and data/stacks.csv if that is better
//   fit ROOT --stage NAME         one stage only (repeatable)
//   fit ROOT --take               write every refit, even if it is worse (after a change of the model)
//   fit ROOT --dry                write nothing
//   fit ROOT --validate [FILE]    errors with the current constants, and with models and GPUs left out; Markdown to
//   FILE
//   fit ROOT --quick [FILE]       the same without the left-out fits
//   fit ROOT --runs               the runs to which every stack was fitted, as rows of data/stacks.csv
//   fit ROOT --by-model           with --validate or --quick: also print the figures of each model
//   fit ROOT --rows               every row with its error in percent, as CSV
//   fit ROOT --rows --no-model    the same for fits without the row's model (--no-gpu: without its GPU, --no-campaign:
//                                 without its campaign)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report.h"

namespace {

using namespace rightsize;

struct Options {
  std::string root = ".", out;
  std::vector<std::string> stages;
  std::optional<fit::LeaveOut> unseen;
  bool take = false, dry = false, validate = false, quick = false, record = false, by_model = false, runs = false,
       rows = false;
};

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < count && words[i + 1][0] != '-';
    if (word == "--take")
      options.take = true;
    else if (word == "--runs")
      options.runs = true;
    else if (word == "--rows")
      options.rows = true;
    else if (word == "--no-model")
      options.unseen = fit::LeaveOut::kModel;
    else if (word == "--no-gpu")
      options.unseen = fit::LeaveOut::kGpu;
    else if (word == "--no-campaign")
      options.unseen = fit::LeaveOut::kCampaign;
    else if (word == "--by-model")
      options.by_model = true;
    else if (word == "--dry")
      options.dry = true;
    else if (word == "--record" && more)
      options.quick = options.record = true, options.out = words[++i];
    else if (word == "--stage" && more)
      options.stages.emplace_back(words[++i]);
    else if (word == "--validate" || word == "--quick") {
      (word == "--quick" ? options.quick : options.validate) = true;
      if (more) options.out = words[++i];
    } else
      options.root = word;
  }
  return options;
}

Checked<> run(const Options& options) {
  RIGHTSIZE_TRY(std::vector<fit::Stage> stages, fit::read_stages(options.root));
  if (!options.stages.empty()) {
    std::erase_if(stages, [&](const fit::Stage& stage) {
      return std::find(options.stages.begin(), options.stages.end(), stage.name) == options.stages.end();
    });
  }
  std::vector<std::string> files;
  for (const fit::Stage& stage : stages) files.insert(files.end(), stage.files.begin(), stage.files.end());
  RIGHTSIZE_TRY(const std::unique_ptr<fit::Measurements> measurements, fit::Measurements::read(options.root, files));
  RIGHTSIZE_TRY(fit::ConstantTable table, fit::ConstantTable::read(options.root + "/data"));
  if (options.runs) {
    RIGHTSIZE_TRY(const perf::Constants constants, table.constants());
    std::fputs(fit::measured_rows(stages, *measurements, constants).c_str(), stdout);
    return {};
  }
  if (options.rows) {
    RIGHTSIZE_TRY(const std::string text, fit::each_row(stages, *measurements, table, options.unseen));
    std::fputs(text.c_str(), stdout);
    return {};
  }
  if (options.validate || options.quick) {
    RIGHTSIZE_TRY(const std::vector<fit::Validated> rows,
                  fit::validate(stages, *measurements, table, options.validate));
    std::fputs(fit::as_text(rows, options.by_model).c_str(), stdout);
    if (!options.out.empty())
      std::ofstream(options.out) << (options.record ? fit::as_csv(rows) : fit::as_markdown(rows));
    return {};
  }
  const std::string date =
      fmt::format("{:%Y-%m-%d}", std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  RIGHTSIZE_TRY(const std::vector<fit::Fitted> fitted, fit::fit_all(stages, *measurements, table, options.take, date));
  std::fputs(fit::as_text(fitted).c_str(), stdout);
  if (options.dry) return {};
  if (Result<> written = table.write(options.root + "/data"); !written) return fail(Errors{written.error()});
  return {};
}

}  // namespace

int main(int count, char** words) {
  const Checked<> done = run(options_of(count, words));
  if (done) return 0;
  std::fputs(describe(done.error()).c_str(), stderr);
  return exit_code(done.error().front());
}
