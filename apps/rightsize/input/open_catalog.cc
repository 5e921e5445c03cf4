#include <filesystem>

#include "base/file.h"
#include "catalog/hardware.h"
#include "feeds/price_store.h"
#include "market/agreements.h"
#include "rightsize/command.h"
#include "rightsize/input/kept_facts.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/open_hardware.h"

namespace rightsize::app {
namespace {

Checked<void> add_stored(catalog::Catalog& catalog, const std::string& url) {
  RIGHTSIZE_TRY(const bool exists, store::exists(url));
  if (!exists) return {};
  RIGHTSIZE_TRY(feeds::PriceStore prices, feeds::PriceStore::open(url, store::Access::kRead));
  if (Result<> added = prices.add_to(catalog); !added) return fail(added.error());
  return {};
}

// agreements.csv beside the user's own facts.
Checked<void> add_agreements(catalog::Catalog& catalog, const std::string& overlay) {
  const std::string file = overlay + "/agreements.csv";
  std::error_code ignored;
  if (overlay.empty() || !std::filesystem::exists(file, ignored)) return {};
  RIGHTSIZE_TRY(std::string text, read_file(file));
  RIGHTSIZE_TRY(const std::vector<market::Agreement> agreements,
                market::read_agreements(file, std::move(text), catalog));
  market::apply_agreements(catalog, agreements, today(), file);
  return {};
}

// A folder without any file of ours is a mistake somewhere: facts people think they gave are not used.
void warn_of_strange_folder(const std::string& overlay) {
  std::error_code ignored;
  if (overlay.empty()) return;
  for (const char* name : {"gpus.csv", "machines.csv", "mig.csv", "sources.csv", "prices", "agreements.csv",
                           "efficiency.csv", "stacks.csv"}) {
    if (std::filesystem::exists(std::filesystem::path(overlay) / name, ignored)) return;
  }
  note(overlay + " holds none of gpus.csv, machines.csv, prices/*.csv, agreements.csv: the built-in facts are used");
}

}  // namespace

Checked<catalog::Catalog> open_hardware(const std::string& flag) {
  RIGHTSIZE_TRY(const std::string overlay, catalog::overlay_directory(flag));
  warn_of_strange_folder(overlay);
  return catalog::load_hardware(overlay);
}

Checked<catalog::Catalog> open_catalog(const std::string& flag, const std::string& store) {
  RIGHTSIZE_TRY(std::string overlay, catalog::overlay_directory(flag));
  warn_of_strange_folder(overlay);
  RIGHTSIZE_TRY(catalog::Catalog catalog, read_catalog(overlay));
  if (Checked<void> added = add_stored(catalog, feeds::PriceStore::url(store)); !added) return fail(added.error());
  if (Checked<void> added = add_agreements(catalog, overlay); !added) return fail(added.error());
  return catalog;
}

}  // namespace rightsize::app
