#include "market/agreements.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "catalog/fact_table.h"
#include "catalog/words.h"

namespace rightsize::market {
namespace {

using catalog::Catalog;
using catalog::Machine;
using catalog::Price;

const std::vector<std::string> kColumns{"account", "kind",     "provider", "instance", "gpu",   "region", "purchase",
                                        "percent", "machines", "amount",   "planned",  "until", "note"};

// One row; mistakes go to `errors` with their place.
Agreement read_agreement(const catalog::FactRow& row, const Catalog& catalog, Errors& errors) {
  catalog::FactReader reader(row, errors);
  const auto given = [&](const char* column) { return !reader.text(column).empty(); };
  const auto wrong = [&](bool is_wrong, const char* column, const char* message) {
    if (is_wrong) reader.mistake(column, bad_input(message));
  };
  const auto number = [&](const char* column, double least, double most, const char* message) {
    const Result<double> value = parse_number(reader.text(column));
    wrong(!value || *value < least || *value >= most, column, message);
    return value.value_or(0);
  };
  std::set<std::string> providers;
  std::vector<std::string> instances;
  for (const Machine& machine : catalog.machines) {
    providers.insert(machine.provider);
    if (machine.provider == reader.text("provider")) instances.push_back(machine.instance);
  }
  Agreement made;
  made.line = row.line();
  made.account = reader.text("account");
  made.note = reader.text("note");
  made.region = reader.text("region");
  made.provider = reader.choice("provider", {providers.begin(), providers.end()});
  if (given("instance")) made.instance = reader.choice("instance", instances);
  if (given("gpu")) made.gpu = reader.choice("gpu", catalog.gpu_names());
  if (given("purchase")) {
    Result<catalog::Purchase> purchase = catalog::read_purchase(reader.text("purchase"));
    if (purchase) made.purchase = *purchase;
    if (!purchase) reader.mistake("purchase", std::move(purchase).error());
  }
  made.until = reader.date("until");
  const std::string kind = reader.choice("kind", {"discount", "reservation", "pool"});
  made.kind = kind == "pool"          ? Agreement::kPool
              : kind == "reservation" ? Agreement::kReservation
                                      : Agreement::kDiscount;
  if (kind == "discount" || (kind == "pool" && given("percent")))
    made.percent = kind == "pool"
                       ? number("percent", 0, 100, "the discount of a pool is from 0 to 100 percent")
                       : number("percent", 1e-9, 100, "a discount is greater than 0 and at most 100 percent");
  if (kind == "pool") {
    for (const auto& [column, amount] : {std::pair{"amount", &made.amount}, {"planned", &made.planned}})
      if (given(column)) *amount = usd(number(column, 0, 1e15, "dollars expected, from 0 up"));
    wrong(!given("amount"), "amount", "a pool needs 'amount', the remaining dollars");
    wrong(!given("until"), "until", "a pool needs 'until', the date by which it must be spent");
  }
  if (kind == "reservation") {
    made.machines = reader.required_integer("machines", 1, 100'000);
    wrong(made.instance.empty(), "instance", "a reservation names its machine");
    wrong(made.region.empty(), "region", "a reservation names its region");
  }
  return made;
}

bool applies(const Agreement& agreement, const Price& price, const Catalog& catalog) {
  const auto fits = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  if (!(agreement.percent > 0) || !fits(agreement.provider, price.provider)) return false;
  if (!fits(agreement.instance, price.instance) || !fits(agreement.region, price.region)) return false;
  if (agreement.purchase && *agreement.purchase != price.purchase) return false;
  if (agreement.gpu.empty()) return true;
  const Machine* machine = catalog.find_machine(price.provider, price.instance);
  return machine != nullptr && machine->gpu == agreement.gpu;
}

std::string of_account(const Agreement& agreement) {
  return agreement.account.empty() ? "" : " of " + agreement.account;
}

void give_discount(Price& price, const Agreement& agreement) {
  price.machine_price = price.machine_price * (1 - agreement.percent / 100);
  if (price.converted) price.converted->amount *= 1 - agreement.percent / 100;
  std::string& note = price.provenance.note;
  note += fmt::format("{}{:g} % off list by agreement{}", note.empty() ? "" : "; ", agreement.percent,
                      of_account(agreement));
}

Price reserved(const Agreement& agreement, Date day, const std::string& file) {
  Price price;
  price.provider = agreement.provider;
  price.instance = agreement.instance;
  price.region = agreement.region;
  price.available = agreement.machines;
  price.provenance.sources = {"agreement"};
  price.provenance.date = day;
  price.provenance.note = fmt::format("reservation{}: paid already{}", of_account(agreement),
                                      agreement.until ? ", until " + format_date(*agreement.until) : "");
  price.provenance.file = file;
  price.provenance.line = agreement.line;
  return price;
}

}  // namespace

Checked<std::vector<Agreement>> read_agreements(const std::string& file, std::string text, const Catalog& catalog) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, std::move(text)));
  Errors errors;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    if (std::find(kColumns.begin(), kColumns.end(), csv.header()[i]) != kColumns.end()) continue;
    errors.push_back(bad_input(fmt::format("unknown column '{}'", csv.header()[i]))
                         .at(csv.header_place(i))
                         .with_hint(did_you_mean(csv.header()[i], kColumns)));
  }
  std::vector<Agreement> agreements;
  for (const CsvRow& row : csv.rows()) agreements.push_back(read_agreement({csv, row, true}, catalog, errors));
  if (!errors.empty()) return fail(std::move(errors));
  return agreements;
}

void apply_agreements(Catalog& catalog, const std::vector<Agreement>& agreements, Date day, const std::string& file) {
  const auto holds = [&](const Agreement& agreement) { return !agreement.until || *agreement.until >= day; };
  for (Price& price : catalog.prices) {
    const Agreement* best = nullptr;
    for (const Agreement& agreement : agreements) {
      if (!holds(agreement) || !applies(agreement, price, catalog)) continue;
      if (best == nullptr || agreement.percent > best->percent) best = &agreement;
    }
    if (best != nullptr) give_discount(price, *best);
  }
  for (const Agreement& agreement : agreements) {
    if (!holds(agreement)) continue;
    if (agreement.kind == Agreement::kReservation) catalog.prices.push_back(reserved(agreement, day, file));
    if (agreement.kind == Agreement::kPool && agreement.amount > agreement.planned)
      catalog.committed.push_back({agreement.account, agreement.provider, agreement.instance, agreement.gpu,
                                   agreement.region, agreement.purchase, agreement.amount - agreement.planned,
                                   *agreement.until});
  }
}

}  // namespace rightsize::market
