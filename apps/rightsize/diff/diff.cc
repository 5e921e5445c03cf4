// rightsize diff: what a change of GPU requests in Kubernetes, SkyPilot, Slurm or Terraform files costs.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "catalog/words.h"
#include "manifests/mentions.h"
#include "manifests/read.h"
#include "rightsize/command.h"
#include "rightsize/diff/chart.h"
#include "rightsize/diff/program.h"
#include "rightsize/diff/report.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;
using manifests::Side;

struct DiffFlags {
  std::string before, after, against, gpu, provider, region, catalog;
  std::optional<Usd> fail_over;      // per month
  std::optional<Seconds> job_hours;  // per month
  bool all = false, strict = false;
  PriceFlag price;
};

constexpr std::size_t kLargest = 8U << 20;

bool is_passed_over(const fs::path& folder) {
  const std::string name = folder.filename().string();
  // Other hidden folders have settings of tools: .dstack, .github.
  return name == "node_modules" || name == "vendor" || name == ".git" || name == ".terraform" || name == ".venv" ||
         name == ".cache" || name == ".tox" || name == ".idea" || name == ".vscode";
}

bool is_nothing(const std::string& path) { return path == "/dev/null" || path == "none"; }

// The files of one version, by their path within it.
Checked<FileTexts> read_side(const std::string& path, const std::string& alias, bool render) {
  FileTexts texts;
  std::error_code problem;
  if (is_nothing(path)) return texts;
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
  if (render) render_charts(path, texts);
  return texts;
}

std::vector<Side> priced(std::vector<manifests::GpuRequest> requests, const market::PriceBook& book,
                         const manifests::PriceAssumptions& assumptions) {
  std::vector<Side> sides;
  for (manifests::GpuRequest& request : requests) {
    manifests::Cost cost = manifests::price_of(request, book, assumptions);
    sides.push_back({std::move(request), std::move(cost)});
  }
  return sides;
}

// Two files are compared under the name of the new one; the old request is shown under its own.
void name_as_typed(manifests::GpuRequest& old, const DiffFlags& flags) {
  if (old.file != flags.after) return;
  if (flags.against.empty() && old.name == fs::path(old.file).filename()) old.name = fs::path(flags.before).filename();
  old.file = flags.against.empty() ? flags.before : fmt::format("{}:{}", flags.against, flags.after);
}

Result<manifests::PriceAssumptions> read_assumptions(const DiffFlags& flags, const catalog::Catalog& catalog) {
  manifests::PriceAssumptions assumptions;
  assumptions.job_time = flags.job_hours;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(assumptions.gpu, named_gpu(catalog, flags.gpu));
  }
  if (!flags.provider.empty()) {
    std::set<std::string> known;
    for (const catalog::Price& price : catalog.prices) known.insert(price.provider);
    RIGHTSIZE_TRY(const std::vector<std::string> named, catalog::match_providers(flags.provider, known));
    if (named.size() != 1) return fail(bad_input("--provider: name one provider for the files that do not"));
    assumptions.provider = named.front();
  }
  RIGHTSIZE_TRY(assumptions.regions, catalog::match_regions(flags.region, catalog::known_regions(catalog)));
  return assumptions;
}

Checked<Outcome> run_diff(DiffFlags flags) {
  const bool from_git = !flags.against.empty();
  if (from_git && !flags.after.empty() && !is_nothing(flags.before))
    return fail(bad_input("--against replaces the old files").with_hint("name only the new ones"));
  // One name: the new files, compared with a revision, with the old version that they hold, or with nothing.
  const bool alone = flags.after.empty();
  if (alone) flags.after = std::exchange(flags.before, "/dev/null");
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, flags.price));
  RIGHTSIZE_TRY(const manifests::PriceAssumptions assumptions, read_assumptions(flags, facts.catalog));
  DiffResult result;
  result.strict = flags.strict;
  if (flags.fail_over) result.fail_over = *flags.fail_over / kMonth;
  // Two files of one kind are versions of one file, whatever their names.
  const bool versions = fs::path(flags.before).extension() == fs::path(flags.after).extension();
  FileTexts old_texts;
  if (from_git) {
    RIGHTSIZE_TRY(old_texts, files_in_revision(flags.after, flags.against, flags.after));
  } else {
    RIGHTSIZE_TRY(old_texts, read_side(flags.before, versions ? flags.after : flags.before, true));
  }
  // The charts of a revision are not on disk for helm, so those of both versions are read as they are.
  RIGHTSIZE_TRY(FileTexts new_texts, read_side(flags.after, flags.after, !from_git));
  if (old_texts.empty() && new_texts.size() == 1) {
    if (std::optional<TwoVersions> both = versions_in(flags.after, new_texts.begin()->second)) {
      old_texts = std::move(both->before), new_texts = std::move(both->after);
      flags.before = flags.after;
    } else if (alone && !from_git) {
      note(fmt::format("showing what {} costs; name two files, or --against main, to compare", flags.after));
    }
  }
  manifests::Found before = manifests::read_files(old_texts), after = manifests::read_files(new_texts);
  result.requests = after.requests.size();
  // A file that could not be read in either version may hide a change.
  result.notes = std::move(after.notes);
  for (std::string& note : before.notes) {
    if (std::ranges::find(result.notes, note) == result.notes.end())
      result.notes.push_back("in the old version, " + std::move(note));
  }
  std::vector<manifests::RequestChange> changes = manifests::compare(
      priced(std::move(before.requests), book, assumptions), priced(std::move(after.requests), book, assumptions));
  for (std::string& note : manifests::unread_changes(old_texts, new_texts, changes))
    result.notes.push_back(std::move(note));
  for (manifests::RequestChange& change : changes) {
    if (change.before) name_as_typed(change.before->request, flags);
    if (flags.all || change.differs()) result.rows.push_back({std::move(change)});
  }
  add_up(result, facts.constants);
  return Outcome{diff_report(result), result.passed() ? kDone : kCheckFailed};
}

}  // namespace

Run add_diff(FlagSet& command) {
  auto flags = std::make_shared<DiffFlags>();
  command.add("OLD", flags->before)->required();
  command.add("NEW", flags->after);
  command.add("against", flags->against);
  command.add("gpu", flags->gpu)->meaning("GPU to assume if a file only requests nvidia.com/gpu");
  command.add("provider", flags->provider)->meaning("provider to price files at that do not name one: aws");
  command.add("region", flags->region)->meaning("region to price files in that do not name one: eu-central-1");
  add_price_flag(command, flags->price);
  command.add("job-hours", flags->job_hours);
  command.add("fail-over", flags->fail_over);
  command.add("strict", flags->strict)
      ->meaning("exit with code 4 if something does not fit, has no price, cannot be read or is not understood");
  command.add("all", flags->all);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_diff(*flags); };
}

}  // namespace rightsize::app
