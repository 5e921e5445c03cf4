// rightsize prices import and update: price feeds into the store, with a count and reason for every row.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/list_of.h"
#include "base/long_work.h"
#include "catalog/hourly_amount.h"
#include "feeds/fetch.h"
#include "feeds/price_store.h"
#include "rightsize/input/size_of.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using report::cut;
using report::Fields;

// When the file was written; today for standard input and files without a date. Never after today.
Date written_on(const std::string& path) {
  struct stat about = {};
  if (path == "-" || stat(path.c_str(), &about) != 0) return today();
  return std::min(today(), Date{static_cast<int>(about.st_mtime / 86'400)});
}

// Whether the file is in a git checkout. Its time is then that of the checkout.
bool is_checked_out(const std::string& path) {
  std::error_code problem;
  for (std::filesystem::path folder = std::filesystem::absolute(path, problem).parent_path(); !problem;
       folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / ".git", problem)) return true;
    if (folder == folder.parent_path()) break;
  }
  return false;
}

std::string source_key(const std::string& feed) { return feed == "skypilot" ? "skypilot-catalog" : feed; }

std::string prices_csv(const feeds::Import& import, const std::string& provider) {
  std::string text = "instance,region,zone,purchase,price,currency,source,date,unverified,note\n";
  for (const feeds::ImportedPrice& price : import.prices) {
    if (price.provider != provider) continue;
    const std::string amount = price.rate != nullptr ? fmt::format("{:.8g},{}", price.list_price, price.rate->currency)
                                                     : fmt::format("{:.8g}USD/h,", price.usd_per_hour);
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_cell(price.instance), csv_cell(price.region),
                        csv_cell(price.zone), catalog::name_of(price.purchase), amount, import.source,
                        format_date(price.date), fmt::join(price.unverified(), "|"), csv_cell(price.note));
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

// The import as an overlay of the catalogue.
Result<> write_overlay(const feeds::Import& import, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder + "/prices", problem);
  if (problem) return fail(unreadable(fmt::format("cannot create {}: {}", folder, problem.message())));
  if (Result<> written = write_file(folder + "/machines.csv", machines_csv(import)); !written) return written;
  for (const std::string& provider : import.providers) {
    if (Result<> written = write_file(fmt::format("{}/prices/{}.csv", folder, provider), prices_csv(import, provider));
        !written) {
      return written;
    }
  }
  return {};
}

struct ImportJob {
  std::string feed, file, provider;
  Date date;
  feeds::DateIs date_is = feeds::DateIs::kStated;
  std::string currency = {};
};

const char* name_of(feeds::DateIs known) {
  static constexpr const char* kNames[] = {"stated", "fetched", "copied", "unknown"};
  return kNames[static_cast<std::size_t>(known)];
}

Result<feeds::Import> read_one(const ImportJob& job, const catalog::Catalog& catalog) {
  const LongWork counted("bytes read", size_of({job.file}));
  feeds::Importer importer(catalog, job.date, source_key(job.feed), job.date_is);
  if (Result<> done = feeds::read_feed(job.feed, job.file, {job.provider, &catalog, job.currency}, importer); !done)
    return fail(std::move(done).error());
  if (cancelled()) return fail(unreadable(fmt::format("stopped: no rows of {} were imported", job.file)));
  return importer.finish();
}

using Reason = feeds::Findings::value_type;
const Fields<Reason> kReasonFields = {
    {"reason", "why", "the reason", &Reason::first},
    {"count", "rows", "rows it applies to", [](const Reason& r) { return r.second.count; }},
    {"examples", "the first few of them", [](const Reason& r) { return r.second.examples; }},
};

// One file that was read.
struct Imported {
  ImportJob job;
  feeds::Audit audit;
  std::size_t prices = 0, new_machines = 0;
  std::string where;  // empty: --dry-run
};
// As pointers: a list of pairs would be written as an object.
std::vector<const Reason*> reasons(const feeds::Findings& findings) {
  return list_of(findings, [](const Reason& reason) { return &reason; });
}
const Fields<Imported> kImportedFields = {
    {"rows_taken", "rows that became prices", [](const Imported& i) { return i.audit.taken; }},
    {"rows_refused", "rows that could not be used", [](const Imported& i) { return i.audit.refused_rows; }},
    {"rows_passed", "rows about other products", [](const Imported& i) { return i.audit.passed; }},
    {"rows_older", "prices older than those on file, kept in the history only",
     [](const Imported& i) { return i.audit.older; }},
    {"rows_undated", "new or changed prices without a known date, which are not ranked first",
     [](const Imported& i) { return i.audit.undated; }},
    {"withdrawn", "earlier prices that the feed no longer lists", [](const Imported& i) { return i.audit.withdrawn; }},
    {"refused", "why rows were refused", kReasonFields, [](const Imported& i) { return reasons(i.audit.refused); }},
    {"suspicious", "why prices look wrong", kReasonFields,
     [](const Imported& i) { return reasons(i.audit.suspicious); }},
    {"corrected", "mistakes that were corrected", kReasonFields,
     [](const Imported& i) { return reasons(i.audit.corrected); }},
    {"file", "the file", [](const Imported& i) { return i.job.file; }},
    {"feed", "its format", [](const Imported& i) { return i.job.feed; }},
    {"date", "the day of the prices", [](const Imported& i) { return i.job.date; }},
    {"date_is", "stated by the file or --date, fetched on that day, copied from a list then, or unknown",
     [](const Imported& i) { return name_of(i.job.date_is); }},
    {"prices", "prices after zones and regions were merged", &Imported::prices},
    {"new_machines", "machines that were not in the catalogue", &Imported::new_machines},
    {"kept", "where the prices were written; null: nowhere", [](const Imported& i) { return text_or_null(i.where); }},
};

struct Failure {
  std::string provider, why;
};
const Fields<Failure> kFailureFields = {
    {"provider", "what was fetched", &Failure::provider},
    {"why", "why it failed", &Failure::why},
};
struct ImportAnswer {
  std::vector<Imported> imports;
  std::vector<Failure> failed = {};
};
const Fields<ImportAnswer> kImportFields = {
    {"imports", "one entry per file", kImportedFields, &ImportAnswer::imports},
    {"failed?", "what could not be fetched or read", kFailureFields, &ImportAnswer::failed},
};
const report::Document<ImportAnswer> kImportDocument("prices-import", "What was imported", kImportFields);

// Reads and stores one file.
Result<Imported> import_one(const PricesFlags& flags, const ImportJob& job, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const feeds::Import import, read_one(job, catalog));
  Imported imported{job, import.audit, import.prices.size(), import.machines.size(), {}};
  if (!flags.write_to.empty()) {
    if (Result<> done = write_overlay(import, flags.write_to); !done) return fail(std::move(done).error());
    imported.where = "written to " + flags.write_to;
  } else if (!flags.dry_run) {
    RIGHTSIZE_TRY(feeds::PriceStore store,
                  feeds::PriceStore::open(feeds::PriceStore::url(flags.store), store::Access::kWrite));
    RIGHTSIZE_TRY(const feeds::FeedKind kind, feeds::find_feed_kind(job.feed));
    const bool dated = job.date_is != feeds::DateIs::kWritten;
    RIGHTSIZE_TRY(imported.audit, store.save(import, {job.feed, job.file, job.date, kind.complete, dated}));
    imported.where = "kept in " + store.database().name();
  }
  return imported;
}

// A row of the audit as a table shows it.
struct AuditRow {
  const char* kind;
  const Reason* reason;
};
const Fields<AuditRow> kAuditFields = {
    {"audit", "audit", "refused, suspicious or corrected", [](const AuditRow& r) { return r.kind; }},
    {"why", "why", "the reason", [](const AuditRow& r) { return r.reason->first; }},
    {"rows", "rows", "rows it applies to", [](const AuditRow& r) { return r.reason->second.count; }},
    {"example", "first example", "the first of them",
     [](const AuditRow& r) { return r.reason->second.examples.empty() ? "" : r.reason->second.examples.front(); }},
};

// A caveat about the date of the prices.
std::string date_sentence(const Imported& i) {
  std::string text;
  if (i.job.date_is == feeds::DateIs::kWritten) {
    text = i.audit.undated > 0
               ? fmt::format(
                     "The file does not say how old its prices are. {} new or different from those on file, marked as "
                     "unconfirmed and not ranked first. Give the day of the prices with --date.",
                     i.audit.undated == 1 ? "1 price is" : fmt::format("{} prices are", i.audit.undated))
               : "The file does not say how old its prices are; unchanged prices keep the date on file.";
  } else if (i.job.date_is == feeds::DateIs::kFetched && i.audit.dateless > 0) {
    text = fmt::format("Prices without a date are of {}, when they were fetched or written; --date sets another day.",
                       format_date(i.job.date));
  } else if (i.audit.undated > 0) {
    text = fmt::format("{} that other sources price differently have an unknown date and are not ranked first.",
                       i.audit.undated == 1 ? "1 offer" : fmt::format("{} offers", i.audit.undated));
  }
  if (i.audit.older > 0)
    text += fmt::format("{}{} older than on file: kept in the history only.", text.empty() ? "" : " ",
                        i.audit.older == 1 ? "1 price is" : fmt::format("{} prices are", i.audit.older));
  return text;
}

// "1 price", "3 prices"
template <class Number>
std::string counted(Number count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void report_import(const Imported& i, report::Report& report) {
  const bool own_dates = i.audit.dateless == 0 && i.job.date_is != feeds::DateIs::kStated;
  const std::string day = own_dates                                  ? "each row dated"
                          : i.job.date_is == feeds::DateIs::kWritten ? "undated"
                                                                     : format_date(i.job.date);
  report.say(fmt::format("{} ({}, {}): {}, {}; {}.", i.job.file, i.job.feed, day, counted(i.prices, "price"),
                         counted(i.new_machines, "new machine"),
                         i.where.empty() ? "nothing kept (--dry-run)" : i.where));
  report.say(date_sentence(i));
  report.say(fmt::format(
      "{} taken, {} refused, {} about other products{}.", counted(i.audit.taken, "row"), i.audit.refused_rows,
      i.audit.passed,
      i.audit.withdrawn > 0 ? fmt::format("; {} withdrawn", counted(i.audit.withdrawn, "earlier price")) : ""));
  std::vector<AuditRow> rows;
  for (const auto& [kind, findings] : {std::pair{"refused", &i.audit.refused},
                                       {"suspicious", &i.audit.suspicious},
                                       {"corrected", &i.audit.corrected}}) {
    for (const Reason& reason : *findings) rows.push_back({kind, &reason});
  }
  if (rows.empty()) return;
  report.blocks.emplace_back(
      report::table_of(kAuditFields, rows, {"audit", cut("why", 60), "rows", cut("example", 60)}));
}

// --currency as a code for which there is a rate; empty if it was not given.
Result<std::string> read_currency(const std::string& text, const catalog::Catalog& catalog) {
  if (text.empty()) return text;
  RIGHTSIZE_TRY(const std::string code, catalog::parse_currency(text));
  RIGHTSIZE_TRY(const catalog::ExchangeRate rate, catalog.exchange_rate(code, today()));
  return rate.currency;
}

// The folder of downloaded files until they are imported.
std::string download_folder() {
  const std::string cache = user_path("XDG_CACHE_HOME", ".cache", "downloads");
  return cache.empty() ? (std::filesystem::temp_directory_path() / "rightsize-downloads").string() : cache;
}

}  // namespace

Checked<Outcome> import_prices(const PricesFlags& flags, const std::vector<std::string>& files) {
  if (files.empty()) return fail(bad_input("'prices import' needs a file, or - for standard input"));
  std::vector<feeds::FeedKind> kinds;
  for (const std::string& file : files) {
    const bool piped = file == "-" && flags.feed.empty();
    Result<feeds::FeedKind> kind = piped                ? fail(bad_input("standard input needs --feed"))
                                   : flags.feed.empty() ? feeds::feed_of(file)
                                                        : feeds::find_feed_kind(flags.feed);
    if (!kind && flags.feed.empty()) {
      Error error = std::move(kind).error();
      for (const feeds::FeedKind& known : feeds::feed_kinds())
        error.hints.push_back(fmt::format("--feed {}: {}", known.name, known.what));
      return fail(std::move(error));
    }
    if (!kind) return fail(std::move(kind).error());
    kinds.push_back(*std::move(kind));
  }
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  if (flags.date && *flags.date - today() > 1)
    return fail(bad_input(fmt::format("--date {} is in the future", format_date(*flags.date))));
  RIGHTSIZE_TRY(const std::string currency, read_currency(flags.currency, catalog));
  Outcome outcome{{.title = "Import"}};
  ImportAnswer answer;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    const feeds::FeedKind& kind = kinds[i];
    const bool unknown = kind.copied || (file != "-" && is_checked_out(file));
    const feeds::DateIs known = flags.date ? feeds::DateIs::kStated
                                : unknown  ? feeds::DateIs::kWritten
                                           : feeds::DateIs::kFetched;
    const ImportJob job{kind.name, file, flags.provider, flags.date.value_or(written_on(file)), known, currency};
    RIGHTSIZE_TRY(const Imported imported, import_one(flags, job, catalog));
    report_import(answer.imports.emplace_back(imported), outcome.report);
  }
  outcome.report.document = kImportDocument.of(answer);
  return outcome;
}

Checked<Outcome> update_prices(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const std::vector<feeds::Download> downloads,
                feeds::downloads_of(flags.feed.empty() ? "skypilot" : flags.feed, words_of(flags.provider),
                                    words_of(flags.region), flags.url));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  Outcome outcome{{.title = "Update"}};
  ImportAnswer answer;
  std::vector<Error> failed;
  for (const feeds::Download& one : downloads) {
    Result<std::string> file = feeds::fetch(one, download_folder());
    RIGHTSIZE_TRY(const feeds::FeedKind kind, feeds::find_feed_kind(one.feed));
    const feeds::DateIs known = kind.copied ? feeds::DateIs::kCopied : feeds::DateIs::kFetched;
    Result<Imported> done = !file ? Result<Imported>(fail(file.error()))
                                  : import_one(flags, {one.feed, *file, one.provider, today(), known}, catalog);
    if (file) feeds::forget_fetched(*file);
    if (done) {
      report_import(answer.imports.emplace_back(*std::move(done)), outcome.report);
      continue;
    }
    answer.failed.push_back({one.what, done.error().message});
    outcome.report.say(fmt::format("{}: {}. Its prices are unchanged.", one.what, done.error().message));
    failed.push_back(done.error());
  }
  if (failed.size() == downloads.size()) return fail(Errors(failed.front()));
  outcome.report.document = kImportDocument.of(answer);
  return outcome;
}

}  // namespace rightsize::app
