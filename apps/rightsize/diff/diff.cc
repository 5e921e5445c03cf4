// rightsize diff: what a change of GPU requests in Kubernetes, SkyPilot, Slurm or Terraform files costs.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "manifests/read.h"
#include "rightsize/command.h"
#include "rightsize/diff/report.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;
using manifests::Side;

struct Flags {
  std::string before, after, gpu, fail_over, catalog;
  double job_hours = -1;  // below 0: not given
  bool all = false, strict = false;
  PriceFlag price;
};

constexpr std::size_t kLargest = 8U << 20;

bool is_passed_over(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == "node_modules" || name == "vendor" || (name.size() > 1 && name.front() == '.');
}

// The files of one side by the path both sides know them by.
Checked<std::map<std::string, std::string>> read_side(const std::string& path, const std::string& alias) {
  std::map<std::string, std::string> texts;
  std::error_code problem;
  if (path == "/dev/null" || path == "none") return texts;
  if (!fs::is_directory(path, problem)) {
    RIGHTSIZE_TRY(std::string text, read_file(path, kLargest));
    texts.emplace(alias, std::move(text));
    return texts;
  }
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, problem), end;
  for (; !problem && at != end; at.increment(problem)) {
    if (at->is_directory(problem) && is_passed_over(at->path())) at.disable_recursion_pending();
    const std::string name = at->path().lexically_relative(path).generic_string();
    if (!at->is_regular_file(problem) || !manifests::may_hold_requests(name)) continue;
    if (at->file_size(problem) > kLargest) continue;
    RIGHTSIZE_TRY(std::string text, read_file(at->path().string(), kLargest));
    texts.emplace(name, std::move(text));
  }
  if (problem) return fail(unreadable(fmt::format("cannot read the folder '{}': {}", path, problem.message())));
  return texts;
}

std::vector<Side> priced(std::vector<manifests::GpuRequest> requests, const market::PriceBook& book,
                         const manifests::Assumptions& assumptions) {
  std::vector<Side> sides;
  for (manifests::GpuRequest& request : requests) {
    manifests::Cost cost = manifests::price_of(request, book, assumptions);
    sides.push_back({std::move(request), std::move(cost)});
  }
  return sides;
}

Result<std::optional<UsdPerSecond>> read_limit(const Flags& flags) {
  if (flags.fail_over.empty()) return std::nullopt;
  RIGHTSIZE_TRY(const Usd limit, parse_usd(flags.fail_over));
  return limit / kMonth;
}

Result<manifests::Assumptions> read_assumptions(const Flags& flags, const catalog::Catalog& catalog) {
  manifests::Assumptions assumptions;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(assumptions.gpu, catalog.find_gpu(flags.gpu));
  }
  if (flags.job_hours >= 0) assumptions.job_time = hours(flags.job_hours);
  return assumptions;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(const manifests::Assumptions assumptions, read_assumptions(flags, catalog));
  DiffResult result;
  RIGHTSIZE_TRY(result.fail_over, read_limit(flags));
  RIGHTSIZE_TRY(const auto old_texts, read_side(flags.before, flags.after));
  RIGHTSIZE_TRY(const auto new_texts, read_side(flags.after, flags.after));
  manifests::Found before = manifests::read_files(old_texts), after = manifests::read_files(new_texts);
  result.requests = after.requests.size();
  result.notes = std::move(after.notes);
  result.changes = manifests::compare(priced(std::move(before.requests), book, assumptions),
                                      priced(std::move(after.requests), book, assumptions));
  if (!flags.all) std::erase_if(result.changes, [](const manifests::Change& change) { return !change.differs(); });
  result.totals = totals_of(result.changes);
  result.passed = !result.fail_over || result.totals.change() <= *result.fail_over;
  if (flags.strict && (result.totals.unpriced > 0 || result.totals.misfits > 0 || !result.notes.empty()))
    result.passed = false;
  Outcome outcome{diff_report(result)};
  if (!result.passed) outcome.exit_code = kCheckFailed;
  return outcome;
}

}  // namespace

Run add_diff(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("OLD", flags->before, "the files as they were: a file, a folder, or /dev/null")->required();
  command.add_option("NEW", flags->after, "the files as they will be")->required();
  command.add_option("--gpu", flags->gpu, "the GPU meant where a file only asks for nvidia.com/gpu");
  add_price_flag(command, flags->price);
  command.add_option("--job-hours", flags->job_hours,
                     "hours a month that jobs run (Job, RayJob, sbatch, SkyPilot task); default: all month, the most "
                     "they can cost");
  command.add_option("--fail-over", flags->fail_over,
                     "exit code 4 where the change costs more a month than this, e.g. 500");
  command.add_flag("--strict", flags->strict, "exit code 4 also where something does not fit or could not be priced");
  command.add_flag("--all", flags->all, "also requests that do not change");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
