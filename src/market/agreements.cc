#include "market/agreements.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "base/suggest.h"

namespace rightsize::market {
namespace {

using catalog::Catalog;
using catalog::Machine;
using catalog::Price;

const std::vector<std::string> kColumns{"account", "kind",     "provider", "instance", "gpu",   "region", "purchase",
                                        "percent", "machines", "amount",   "planned",  "until", "note"};

const std::vector<std::string> kKinds{"discount", "reservation", "pool"};

// One row; mistakes go to `errors` with their place.
class Reader {
 public:
  Reader(const Csv& csv, const CsvRow& row, const Catalog& catalog, Errors& errors)
      : csv_(csv), row_(row), catalog_(catalog), errors_(errors) {}

  Agreement read() {
    Agreement made;
    made.line = row_.line;
    made.account = csv_.cell(row_, "account");
    made.note = csv_.cell(row_, "note");
    made.region = csv_.cell(row_, "region");
    const std::string_view kind = csv_.cell(row_, "kind");
    const auto known_kind = std::find(kKinds.begin(), kKinds.end(), kind);
    if (known_kind == kKinds.end())
      wrong("kind", fmt::format("'{}' is not discount, reservation or pool", kind), did_you_mean(kind, kKinds));
    else
      made.kind = static_cast<Agreement::Kind>(known_kind - kKinds.begin());
    made.provider = known("provider", providers());
    made.instance = known("instance", instances(made.provider));
    made.gpu = known("gpu", catalog_.gpu_names());
    if (made.provider.empty()) wrong("provider", "'provider' is missing", "");
    read_terms(made);
    return made;
  }

 private:
  void wrong(const char* column, std::string message, std::string hint) {
    errors_.push_back(bad_input(std::move(message)).at(csv_.place(row_, column)).with_hint(std::move(hint)));
  }

  std::string known(const char* column, const std::vector<std::string>& names) {
    std::string value(csv_.cell(row_, column));
    if (!value.empty() && std::find(names.begin(), names.end(), value) == names.end()) {
      wrong(column, fmt::format("unknown {} '{}'", column, value), did_you_mean(value, names));
    }
    return value;
  }

  std::vector<std::string> providers() const {
    std::set<std::string> names;
    for (const Machine& machine : catalog_.machines) names.insert(machine.provider);
    return {names.begin(), names.end()};
  }

  std::vector<std::string> instances(const std::string& provider) const {
    std::vector<std::string> names;
    for (const Machine& machine : catalog_.machines) {
      if (machine.provider == provider) names.push_back(machine.instance);
    }
    return names;
  }

  void read_terms(Agreement& made) {
    if (const std::string_view word = csv_.cell(row_, "purchase"); !word.empty()) {
      made.purchase = catalog::parse_purchase(word);
      if (!made.purchase)
        wrong("purchase", fmt::format("'{}' is not on-demand, spot, 1y, 3y or capacity-block", word), "");
    }
    if (const std::string_view day = csv_.cell(row_, "until"); !day.empty()) {
      Result<Date> until = parse_date(day);
      if (until) made.until = *until;
      if (!until) errors_.push_back(std::move(until).error().at(csv_.place(row_, "until")));
    }
    const bool pool = made.kind == Agreement::kPool;
    if (made.kind == Agreement::kDiscount || (pool && !csv_.cell(row_, "percent").empty())) {
      const Result<double> percent = parse_number(csv_.cell(row_, "percent"));
      if (!percent || *percent <= 0 || *percent >= 100) wrong("percent", "a discount is between 0 and 100 percent", "");
      made.percent = percent.value_or(0);
    }
    if (pool) read_pool(made);
    if (made.kind == Agreement::kReservation) read_reservation(made);
  }

  void read_pool(Agreement& made) {
    const auto dollars = [&](const char* column) {
      const std::string_view text = csv_.cell(row_, column);
      const Result<double> amount = parse_number(text);
      if (!text.empty() && (!amount || *amount < 0)) wrong(column, "dollars expected, from 0 up", "");
      return usd(amount.value_or(0));
    };
    made.amount = dollars("amount");
    made.planned = dollars("planned");
    if (csv_.cell(row_, "amount").empty()) wrong("amount", "a pool says how many dollars are left of it", "");
    if (csv_.cell(row_, "until").empty()) wrong("until", "a pool says until when it must be spent", "");
  }

  void read_reservation(Agreement& made) {
    const Result<std::int64_t> machines = parse_integer(csv_.cell(row_, "machines"));
    if (!machines || *machines < 1 || *machines > 100'000)
      wrong("machines", "a reservation is of one machine or more", "");
    made.machines = static_cast<int>(machines.value_or(0));
    if (made.instance.empty()) wrong("instance", "a reservation names its machine", "");
    if (made.region.empty()) wrong("region", "a reservation names its region", "");
  }

  const Csv& csv_;
  const CsvRow& row_;
  const Catalog& catalog_;
  Errors& errors_;
};

const Machine* machine_of(const Catalog& catalog, const Price& price) {
  return catalog.find_machine(price.provider, price.instance);
}

bool applies(const Agreement& agreement, const Price& price, const Catalog& catalog) {
  const auto fits = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  if (!(agreement.percent > 0) || !fits(agreement.provider, price.provider)) return false;
  if (!fits(agreement.instance, price.instance) || !fits(agreement.region, price.region)) return false;
  if (agreement.purchase && *agreement.purchase != price.purchase) return false;
  if (agreement.gpu.empty()) return true;
  const Machine* machine = machine_of(catalog, price);
  return machine != nullptr && machine->gpu == agreement.gpu;
}

std::string of_account(const Agreement& agreement) {
  return agreement.account.empty() ? "" : " of " + agreement.account;
}

void give_discount(Price& price, const Agreement& agreement) {
  price.machine_price = price.machine_price * (1 - agreement.percent / 100);
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
  for (const CsvRow& row : csv.rows()) agreements.push_back(Reader(csv, row, catalog, errors).read());
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
