// Reads the catalogue and the constants of the speed model.
#include "rightsize/input/facts.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/file.h"
#include "catalog/hardware.h"
#include "feeds/price_store.h"
#include "market/agreements.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> keeping = false;

// Empty files are left out: readers of a database create an empty log.
std::string file_version(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed || size == 0) return {};
  const auto changed = fs::last_write_time(file, failed).time_since_epoch().count();
  return fmt::format("{}:{}:{}\n", file.string(), size, changed);
}

std::string overlay_version(const std::string& overlay) {
  std::string version;
  for (const char* folder : {"", "prices"}) {
    std::error_code failed;
    for (fs::directory_iterator each(fs::path(overlay) / folder, failed), end; !failed && each != end;
         each.increment(failed))
      version += file_version(each->path());
  }
  return version;
}

template <class Facts>
class CachedFacts {
 public:
  Checked<Facts> get(const std::string& overlay, Checked<Facts> (*read)(const std::string&)) {
    if (!keeping) return read(overlay);
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[overlay];
    std::string version = overlay.empty() ? std::string{} : overlay_version(overlay);
    if (!entry.facts || entry.version != version) {
      RIGHTSIZE_TRY(Facts facts, read(overlay));
      entry = {std::make_shared<const Facts>(std::move(facts)), std::move(version)};
    }
    return *entry.facts;
  }

 private:
  struct Entry {
    std::shared_ptr<const Facts> facts;
    std::string version;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

Checked<catalog::Catalog> read_catalog(const std::string& overlay) {
  static CachedFacts<catalog::Catalog> kept;
  return kept.get(overlay, [](const std::string& folder) { return catalog::load_catalog(folder); });
}

Checked<perf::Constants> read_constants(const std::string& overlay) {
  static CachedFacts<perf::Constants> kept;
  return kept.get(overlay, [](const std::string& folder) { return perf::load_constants(folder); });
}

Checked<void> add_stored(catalog::Catalog& catalog, const std::string& url) {
  RIGHTSIZE_TRY(const bool exists, store::exists(url));
  if (!exists) return {};
  RIGHTSIZE_TRY(feeds::PriceStore prices, feeds::PriceStore::open(url, store::Access::kRead));
  if (Result<> added = prices.add_to(catalog); !added) return fail(added.error());
  return {};
}

// Reads agreements.csv from the folder of the user's own facts.
Checked<void> add_agreements(catalog::Catalog& catalog, const std::string& overlay) {
  const std::string file = overlay + "/agreements.csv";
  std::error_code ignored;
  if (overlay.empty() || !fs::exists(file, ignored)) return {};
  RIGHTSIZE_TRY(std::string text, read_file(file));
  RIGHTSIZE_TRY(const std::vector<market::Agreement> agreements,
                market::read_agreements(file, std::move(text), catalog));
  market::apply_agreements(catalog, agreements, today(), file);
  return {};
}

bool is_named(const std::string& flag) { return !flag.empty() || std::getenv("RIGHTSIZE_CATALOG") != nullptr; }

// A folder that the user named but that contains none of the expected files is probably a mistake.
void warn_about_empty_folder(const std::string& overlay, bool named) {
  std::error_code ignored;
  if (overlay.empty() || !named) return;
  for (const char* name : {"gpus.csv", "machines.csv", "mig.csv", "sources.csv", "prices", "agreements.csv",
                           "efficiency.csv", "stacks.csv", perf::kCalibrationFile}) {
    if (fs::exists(fs::path(overlay) / name, ignored)) return;
  }
  note(overlay + " holds none of gpus.csv, machines.csv, prices/*.csv, agreements.csv: the built-in facts are used");
}

}  // namespace

void keep_facts() { keeping = true; }

std::string facts_version() {
  const Result<std::string> overlay = catalog::overlay_directory("");
  const std::string url = feeds::PriceStore::url("");
  std::string version = !overlay ? overlay.error().message : overlay->empty() ? "" : overlay_version(*overlay);
  if (!store::is_server(url)) return version + file_version(url) + file_version(url + "-wal");
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return version + fmt::format("{}", std::chrono::duration_cast<std::chrono::minutes>(now).count());
}

Checked<catalog::Catalog> open_hardware(const std::string& flag) {
  RIGHTSIZE_TRY(const std::string overlay, catalog::overlay_directory(flag));
  warn_about_empty_folder(overlay, is_named(flag));
  return catalog::load_hardware(overlay);
}

Checked<catalog::Catalog> open_catalog(const std::string& flag, const std::string& store) {
  RIGHTSIZE_TRY(std::string overlay, catalog::overlay_directory(flag));
  warn_about_empty_folder(overlay, is_named(flag));
  RIGHTSIZE_TRY(catalog::Catalog catalog, read_catalog(overlay));
  if (Checked<void> added = add_stored(catalog, feeds::PriceStore::url(store)); !added) return fail(added.error());
  if (Checked<void> added = add_agreements(catalog, overlay); !added) return fail(added.error());
  return catalog;
}

Checked<perf::Constants> open_constants(const std::string& catalog_flag) {
  RIGHTSIZE_TRY(const std::string overlay, catalog::overlay_directory(catalog_flag));
  return read_constants(overlay);
}

Checked<Facts> open_facts(const std::string& catalog_flag) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(catalog_flag));
  RIGHTSIZE_TRY(perf::Constants constants, open_constants(catalog_flag));
  return Facts{std::move(catalog), std::move(constants)};
}

}  // namespace rightsize::app
