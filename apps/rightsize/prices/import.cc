// rightsize prices import and update: feeds into the price store, with an account of every row.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/format.h"
#include "base/long_work.h"
#include "base/text.h"
#include "feeds/fetch.h"
#include "feeds/price_store.h"
#include "rightsize/input/size_of.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using report::Align;

// When the file was written; today for standard input and what has no date.
Date written_on(const std::string& path) {
  struct stat about = {};
  if (path == "-" || stat(path.c_str(), &about) != 0) return today();
  return {static_cast<int>(about.st_mtime / 86'400)};
}

std::string source_key(const std::string& feed) { return feed == "skypilot" ? "skypilot-catalog" : feed; }

std::string prices_csv(const feeds::Import& import, const std::string& provider) {
  std::string text = "instance,region,zone,purchase,price,source,date,unverified,note\n";
  for (const catalog::Price& price : import.prices) {
    if (price.provider != provider) continue;
    const catalog::Provenance& from = price.provenance;
    text += fmt::format("{},{},{},{},{:.8g}USD/h,{},{},{},{}\n", csv_cell(price.instance), csv_cell(price.region),
                        csv_cell(price.zone), catalog::name_of(price.purchase),
                        in_usd_per_machine_hour(price.machine_price), fmt::join(from.sources, "|"),
                        format_date(*from.date), fmt::join(from.unverified, "|"), csv_cell(from.note));
  }
  return text;
}

std::string machines_csv(const feeds::Import& import) {
  std::string text = "provider,instance,gpu,gpus,vcpus,memory,interconnect,hosting,source,date,unverified,note\n";
  for (const catalog::Machine& machine : import.machines) {
    const catalog::Provenance& from = machine.provenance;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", machine.provider, csv_cell(machine.instance),
                        machine.gpu, machine.gpus, machine.vcpus ? fmt::format("{:g}", *machine.vcpus) : "",
                        machine.memory ? fmt::format("{:g}GiB", in_gib(*machine.memory)) : "", machine.interconnect,
                        machine.community ? "community" : "", fmt::join(from.sources, "|"), format_date(*from.date),
                        fmt::join(from.unverified, "|"), csv_cell(from.note));
  }
  return text;
}

// An overlay of the catalogue with what the feed says.
Result<> write_overlay(const feeds::Import& import, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder + "/prices", problem);
  if (problem) return fail(unreadable(fmt::format("cannot make {}: {}", folder, problem.message())));
  if (Result<> written = write_file(folder + "/machines.csv", machines_csv(import)); !written) return written;
  for (const std::string& provider : import.providers) {
    if (Result<> written = write_file(fmt::format("{}/prices/{}.csv", folder, provider), prices_csv(import, provider));
        !written) {
      return written;
    }
  }
  return {};
}

struct Job {
  std::string feed, file, provider;
  Date date;
};

Result<feeds::Import> read_one(const Job& job, const catalog::Catalog& catalog) {
  const LongWork counted("bytes read", size_of({job.file}));
  feeds::Importer importer(catalog, job.date, source_key(job.feed));
  if (Result<> done = feeds::read_feed(job.feed, job.file, {job.provider, &catalog}, importer); !done)
    return fail(std::move(done).error());
  if (cancelled()) return fail(unreadable(fmt::format("stopped: nothing of {} was kept", job.file)));
  return importer.finish();
}

// Reads and keeps one file; says what became of its rows.
Result<> import_one(const PricesFlags& flags, const Job& job, const catalog::Catalog& catalog, report::Report& report) {
  RIGHTSIZE_TRY(const feeds::Import import, read_one(job, catalog));
  feeds::Audit audit = import.audit;
  std::string where = "nothing kept (--dry-run)";
  if (!flags.write_to.empty()) {
    if (Result<> done = write_overlay(import, flags.write_to); !done) return fail(std::move(done).error());
    where = "written to " + flags.write_to;
  } else if (!flags.dry_run) {
    RIGHTSIZE_TRY(feeds::PriceStore store, feeds::PriceStore::open(feeds::PriceStore::url(flags.store)));
    RIGHTSIZE_TRY(const feeds::FeedKind* kind, feeds::find_feed_kind(job.feed));
    RIGHTSIZE_TRY(audit, store.save(import, {job.feed, job.file, job.date, kind->complete}));
    where = "kept in " + store.database().name();
  }
  Json entry = audit_json(audit);
  entry["file"] = job.file;
  entry["feed"] = job.feed;
  entry["date"] = format_date(job.date);
  entry["prices"] = static_cast<double>(import.prices.size());
  entry["new_machines"] = static_cast<double>(import.machines.size());
  entry["kept"] = flags.dry_run ? Json(nullptr) : Json(where);
  report.document["imports"].push_back(entry);
  report_audit(audit,
               fmt::format("{} ({}, {}): {} prices, {} new machines; {}.", job.file, job.feed, format_date(job.date),
                           import.prices.size(), import.machines.size(), where),
               report);
  return {};
}

void add_findings(report::Table& table, const char* kind, const feeds::Findings& findings) {
  for (const auto& [why, finding] : findings) {
    table.rows.push_back({report::text_cell(kind), report::text_cell(why),
                          report::number_cell(fmt::format("{}", finding.count), static_cast<double>(finding.count)),
                          report::text_cell(finding.examples.empty() ? "" : finding.examples.front())});
  }
}

Json findings_json(const feeds::Findings& findings) {
  Json list = Json::array();
  for (const auto& [why, finding] : findings) {
    Json examples = Json::array();
    for (const std::string& example : finding.examples) examples.push_back(example);
    list.push_back({{"reason", why}, {"count", static_cast<double>(finding.count)}, {"examples", examples}});
  }
  return list;
}

// Where fetched files lie until they are imported.
std::string download_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != 0) return std::string(cache) + "/rightsize/downloads";
  if (home != nullptr && *home != 0) return std::string(home) + "/.cache/rightsize/downloads";
  return (std::filesystem::temp_directory_path() / "rightsize-downloads").string();
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::string_view name : split_list(list, ',')) names.emplace_back(name);
  return names;
}

}  // namespace

void report_audit(const feeds::Audit& audit, const std::string& what, report::Report& report) {
  report.blocks.emplace_back(report::Paragraph{what});
  report.blocks.emplace_back(report::Paragraph{
      fmt::format("{} rows taken, {} refused, {} not of GPU machines{}.", audit.taken, audit.refused_rows, audit.passed,
                  audit.withdrawn > 0 ? fmt::format("; {} earlier prices withdrawn", audit.withdrawn) : "")});
  report::Table table;
  table.columns = {{"audit", "audit", Align::kLeft},
                   {"why", "why", Align::kLeft, 60},
                   {"rows", "rows", Align::kRight},
                   {"first of them", "example", Align::kLeft, 60}};
  add_findings(table, "refused", audit.refused);
  add_findings(table, "suspicious", audit.suspicious);
  add_findings(table, "corrected", audit.corrected);
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
}

Json audit_json(const feeds::Audit& audit) {
  return {{"rows_taken", static_cast<double>(audit.taken)},   {"rows_refused", static_cast<double>(audit.refused_rows)},
          {"rows_passed", static_cast<double>(audit.passed)}, {"withdrawn", static_cast<double>(audit.withdrawn)},
          {"refused", findings_json(audit.refused)},          {"suspicious", findings_json(audit.suspicious)},
          {"corrected", findings_json(audit.corrected)}};
}

Checked<Outcome> import_prices(const PricesFlags& flags, const std::vector<std::string>& files) {
  if (flags.feed.empty()) {
    Error error = bad_input("'prices import' needs --feed");
    for (const feeds::FeedKind& kind : feeds::feed_kinds()) {
      error.hints.push_back(fmt::format("--feed {}: {}", kind.name, kind.what));
    }
    return fail(std::move(error));
  }
  RIGHTSIZE_TRY(const feeds::FeedKind* kind, feeds::find_feed_kind(flags.feed));
  if (files.empty()) return fail(bad_input("'prices import' needs a file, or - for standard input"));
  std::optional<Date> date;
  if (!flags.date.empty()) {
    RIGHTSIZE_TRY(date, parse_date(flags.date));
  }
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  Outcome outcome;
  outcome.report.title = "Import";
  outcome.report.document = {{"schema", "rightsize/prices-import/1"}, {"imports", Json::array()}};
  for (const std::string& file : files) {
    const Job job{kind->name, file, flags.provider, date.value_or(written_on(file))};
    if (Result<> done = import_one(flags, job, catalog, outcome.report); !done) return fail(done.error());
  }
  return outcome;
}

Checked<Outcome> update_prices(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const std::vector<feeds::Download> downloads,
                feeds::downloads_of(flags.feed.empty() ? "skypilot" : flags.feed, names_in(flags.provider),
                                    names_in(flags.region), flags.url));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  Outcome outcome;
  outcome.report.title = "Update";
  outcome.report.document = {
      {"schema", "rightsize/prices-import/1"}, {"imports", Json::array()}, {"failed", Json::array()}};
  std::vector<Error> failed;
  for (const feeds::Download& one : downloads) {
    Result<std::string> file = feeds::fetch(one, download_folder());
    Result<> done;
    if (file) {
      done = import_one(flags, {one.feed, *file, one.provider, today()}, catalog, outcome.report);
      feeds::forget_fetched(*file);
    } else {
      done = fail(std::move(file).error());
    }
    if (done) continue;
    outcome.report.document["failed"].push_back({{"provider", one.what}, {"why", done.error().message}});
    outcome.report.blocks.emplace_back(
        report::Paragraph{fmt::format("{}: {}. Its prices stay as they were.", one.what, done.error().message)});
    failed.push_back(done.error());
  }
  if (failed.size() == downloads.size()) return fail(Errors(failed.front()));
  return outcome;
}

}  // namespace rightsize::app
