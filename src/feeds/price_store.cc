#include "feeds/price_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/text.h"
#include "store/schema.h"

namespace rightsize::feeds {
namespace {

using catalog::Machine;
using catalog::Price;
using catalog::Purchase;
using store::Value;

// Days are counted from 1970; purchase is the catalogue's word; we number offers ourselves, so both databases agree.
constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS offer (id BIGINT PRIMARY KEY, provider TEXT NOT NULL, instance TEXT NOT NULL, "
    "region TEXT NOT NULL, zone TEXT NOT NULL, purchase TEXT NOT NULL, "
    "UNIQUE (provider, instance, region, zone, purchase))",
    "CREATE TABLE IF NOT EXISTS current_price (offer BIGINT PRIMARY KEY, day BIGINT NOT NULL, "
    "usd DOUBLE PRECISION NOT NULL, feed TEXT NOT NULL, doubts TEXT NOT NULL, note TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS machine (provider TEXT NOT NULL, instance TEXT NOT NULL, gpu TEXT NOT NULL, "
    "gpus BIGINT NOT NULL, vcpus DOUBLE PRECISION, memory_gib DOUBLE PRECISION, interconnect TEXT NOT NULL, "
    "community BIGINT NOT NULL, doubts TEXT NOT NULL, note TEXT NOT NULL, feed TEXT NOT NULL, day BIGINT NOT NULL, "
    "PRIMARY KEY (provider, instance))",
    "CREATE TABLE IF NOT EXISTS interruption (provider TEXT NOT NULL, instance TEXT NOT NULL, region TEXT NOT NULL, "
    "least DOUBLE PRECISION NOT NULL, most DOUBLE PRECISION NOT NULL, day BIGINT NOT NULL, "
    "PRIMARY KEY (provider, instance, region))",
    "CREATE TABLE IF NOT EXISTS import (id BIGINT PRIMARY KEY, feed TEXT NOT NULL, file TEXT NOT NULL, "
    "day BIGINT NOT NULL, taken BIGINT NOT NULL, refused BIGINT NOT NULL)",
};
// Prices are looked up by offer and day, so SQLite keeps the table in that order.
constexpr const char* kHistory =
    "CREATE TABLE IF NOT EXISTS price (offer BIGINT NOT NULL, day BIGINT NOT NULL, usd DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (offer, day))";

// Version 2: each feed's latest prices, which makes the result independent of the order of imports; the list currency;
// and the day of each feed's newest complete list.
constexpr const char* kFeedTables[] = {
    "ALTER TABLE current_price RENAME TO current_price_1",
    "CREATE TABLE current_price (offer BIGINT NOT NULL, feed TEXT NOT NULL, day BIGINT NOT NULL, "
    "usd DOUBLE PRECISION NOT NULL, doubts TEXT NOT NULL, note TEXT NOT NULL, currency TEXT NOT NULL, "
    "amount DOUBLE PRECISION NOT NULL, rate DOUBLE PRECISION NOT NULL, rate_day BIGINT NOT NULL, "
    "rate_source TEXT NOT NULL, PRIMARY KEY (offer, feed))",
    "INSERT INTO current_price SELECT offer, feed, day, usd, doubts, note, 'USD', usd, 1, day, '' FROM current_price_1",
    "DROP TABLE current_price_1",
    ("CREATE TABLE listing (feed TEXT NOT NULL, provider TEXT NOT NULL, day BIGINT NOT NULL, "
     "PRIMARY KEY (feed, provider))"),
};

store::Where where(const PriceFilter& filter) {
  store::Where where;
  where.among("o.provider", filter.providers);
  where.among("o.instance", filter.instances);
  where.among("o.region", filter.regions);
  where.among("o.zone", filter.zones);
  where.among("o.purchase", list_of<std::string>(filter.purchases, [](Purchase p) { return name_of(p); }));
  return where;
}

PricePoint point_of(const store::Row& row) {
  return {std::string(row.text(0)),
          std::string(row.text(1)),
          std::string(row.text(2)),
          std::string(row.text(3)),
          catalog::parse_purchase(row.text(4)).value_or(Purchase::kOnDemand),
          {static_cast<int>(row.integer(5))},
          row.number(6)};
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "|")); }

std::vector<std::string> apart(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view word : split_list(text, '|')) words.emplace_back(word);
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// One import within its transaction.
class ImportWriter {
 public:
  ImportWriter(store::Database& database, const Import& import, const ImportLabel& label)
      : database_(database), import_(import), label_(label), audit_(import.audit) {}

  Result<Audit> save() {
    for (Result<> (ImportWriter::*step)() :
         {&ImportWriter::number_offers, &ImportWriter::read_current, &ImportWriter::choose, &ImportWriter::withdraw,
          &ImportWriter::write_current, &ImportWriter::write_history, &ImportWriter::write_machines,
          &ImportWriter::write_interruptions, &ImportWriter::write_listings, &ImportWriter::write_label}) {
      if (Result<> done = (this->*step)(); !done) return fail(std::move(done).error());
    }
    return audit_;
  }

 private:
  using Price = ImportedPrice;

  // The feed's previous price of an offer.
  struct Current {
    std::int64_t offer = 0;
    int day = 0;
    bool dated = true, listed = false;  // listed: a new complete list could withdraw it
  };

  // Numbers new offers. The prices are sorted, so no index of the store is needed.
  Result<> number_offers() {
    std::int64_t last = 0;
    const std::vector<Price>& prices = import_.prices;
    ids_.resize(prices.size());
    Result<> read = database_.query(
        "SELECT id, provider, instance, region, zone, purchase FROM offer", {}, [&](const store::Row& row) {
          last = std::max(last, row.integer(0));
          const std::optional<Purchase> purchase = catalog::parse_purchase(row.text(5));
          if (!purchase) return;
          const Price offer{row.text(1), row.text(2), row.text(3), row.text(4), {}, *purchase};
          const auto at = std::ranges::lower_bound(prices, offer, ByOffer());
          if (at != prices.end() && !ByOffer()(offer, *at))
            ids_[static_cast<std::size_t>(at - prices.begin())] = row.integer(0);
        });
    if (!read) return read;
    std::vector<std::size_t> fresh;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] != 0) continue;
      ids_[i] = ++last;
      fresh.push_back(i);
    }
    return store::insert_all(database_, "offer", {"id", "provider", "instance", "region", "zone", "purchase"}, fresh,
                             [&](std::size_t i) -> std::vector<Value> {
                               const Price& price = prices[i];
                               return {ids_[i],
                                       std::string(price.provider),
                                       std::string(price.instance),
                                       std::string(price.region),
                                       std::string(price.zone),
                                       std::string(name_of(price.purchase))};
                             });
  }

  // Reads this feed's previous prices.
  Result<> read_current() {
    Result<> read = database_.query(
        "SELECT p.offer, p.day, p.doubts, o.provider FROM current_price p JOIN offer o ON o.id = p.offer "
        "WHERE p.feed = $1 ORDER BY p.offer",
        {label_.feed}, [&](const store::Row& row) {
          current_.push_back({row.integer(0), static_cast<int>(row.integer(1)), !has(apart(row.text(2)), "date"),
                              import_.providers.contains(std::string(row.text(3)))});
        });
    if (!read) return read;
    return database_.query("SELECT provider, day FROM listing WHERE feed = $1", {label_.feed},
                           [&](const store::Row& row) { listings_[std::string(row.text(0))] = row.integer(1); });
  }

  // Whether a price is newer than the feed's previous one. A price with an unknown day never replaces one with a known
  // day. An offer that is missing from a newer complete list of the feed is no longer sold.
  bool is_news(const Price& price, const Current* before) const {
    const bool dated = !price.undated;
    if (before != nullptr) return dated != before->dated ? dated : price.date.day >= before->day;
    const auto listing = listings_.find(price.provider);
    return listing == listings_.end() ||
           (dated && std::max(std::int64_t{price.date.day}, complete_day()) >= listing->second);
  }

  Result<> choose() {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const Price& price = import_.prices[i];
      const auto before = std::ranges::lower_bound(current_, ids_[i], {}, &Current::offer);
      const bool known = before != current_.end() && before->offer == ids_[i];
      const bool news = is_news(price, known ? &*before : nullptr);
      if (known) before->listed = false;
      if (known && news) replaced_.push_back(ids_[i]);
      if (news) chosen_.push_back(i);
      if (!news) ++audit_.older;
      if (news || !price.undated) kept_.push_back(i);
    }
    return {};
  }

  // The day of a complete list; prices in it may be older, but were still offered then.
  std::int64_t complete_day() const { return label_.complete && label_.dated ? label_.date.day : 0; }

  // Removes prices that the feed no longer lists for these providers, unless they are newer than this list; listed
  // prices are written again.
  Result<> withdraw() {
    for (const Current& before : current_) {
      if (!before.listed || before.day > complete_day()) continue;
      replaced_.push_back(before.offer);
      ++audit_.withdrawn;
    }
    return for_each(replaced_, [&](std::int64_t offer) {
      return database_.run("DELETE FROM current_price WHERE offer = $1 AND feed = $2", {offer, label_.feed});
    });
  }

  std::int64_t day() const { return label_.date.day; }

  Result<> write_current() {
    return store::insert_all(
        database_, "current_price",
        {"offer", "feed", "day", "usd", "doubts", "note", "currency", "amount", "rate", "rate_day", "rate_source"},
        chosen_, [&](std::size_t i) -> std::vector<Value> {
          const Price& price = import_.prices[i];
          const catalog::ExchangeRate dollars{std::string(catalog::kDollars), 1, price.date, {}};
          const catalog::ExchangeRate& rate = price.rate != nullptr ? *price.rate : dollars;
          return {ids_[i],
                  label_.feed,
                  std::int64_t{price.date.day},
                  price.usd_per_hour,
                  joined(price.unverified()),
                  std::string(price.note),
                  rate.currency,
                  price.rate != nullptr ? price.list_price : price.usd_per_hour,
                  rate.usd,
                  std::int64_t{rate.date.day},
                  rate.source};
        });
  }

  Result<> write_history() {
    return for_each(kept_, [&](std::size_t i) {
      const Price& price = import_.prices[i];
      return store::put(database_, "price", {"offer", "day", "usd"},
                        {ids_[i], std::int64_t{price.date.day}, price.usd_per_hour}, "offer, day");
    });
  }

  Result<> write_listings() {
    if (complete_day() == 0) return {};
    return for_each(import_.providers, [&](const std::string& provider) -> Result<> {
      const auto before = listings_.find(provider);
      if (before != listings_.end() && before->second >= complete_day()) return {};
      return store::put(database_, "listing", {"feed", "provider", "day"}, {label_.feed, provider, complete_day()},
                        "feed, provider");
    });
  }

  Result<> write_machines() {
    return for_each(import_.machines, [&](const Machine& m) {
      return store::put(database_, "machine",
                        {"provider", "instance", "gpu", "gpus", "vcpus", "memory_gib", "interconnect", "community",
                         "doubts", "note", "feed", "day"},
                        {m.provider, m.instance, m.gpu, std::int64_t{m.gpus}, m.vcpus ? Value(*m.vcpus) : Value(),
                         m.memory ? Value(in_gib(*m.memory)) : Value(), m.interconnect, std::int64_t{m.community},
                         joined(m.provenance.unverified), m.provenance.note, label_.feed, day()},
                        "provider, instance");
    });
  }

  Result<> write_interruptions() {
    return for_each(import_.interruptions, [&](const InterruptionRow& row) {
      return store::put(database_, "interruption", {"provider", "instance", "region", "least", "most", "day"},
                        {row.provider, row.instance, row.region, row.least, row.most, day()},
                        "provider, instance, region");
    });
  }

  Result<> write_label() {
    RIGHTSIZE_TRY(const std::vector<std::int64_t> last,
                  store::rows(database_, "SELECT COALESCE(MAX(id), 0) FROM import", {},
                              [](const store::Row& row) { return row.integer(0); }));
    return store::put(database_, "import", {"id", "feed", "file", "day", "taken", "refused"},
                      {last.front() + 1, label_.feed, label_.file, day(), std::int64_t{audit_.taken},
                       std::int64_t{audit_.refused_rows}});
  }

  // Writes the items until one fails.
  template <class Items, class Write>
  static Result<> for_each(const Items& items, const Write& write) {
    for (const auto& item : items) {
      if (Result<> written = write(item); !written) return written;
    }
    return {};
  }

  store::Database& database_;
  const Import& import_;
  const ImportLabel& label_;
  Audit audit_;
  std::vector<std::int64_t> ids_;  // of the offers of import_.prices
  std::vector<Current> current_;   // by offer
  std::map<std::string, std::int64_t, std::less<>> listings_;
  std::vector<std::size_t> chosen_, kept_;  // prices that become current; that enter the history
  std::vector<std::int64_t> replaced_;      // offers with a current price that is replaced or withdrawn
};

}  // namespace

std::string PriceStore::url(std::string_view flag) {
  return store::default_location(flag, "RIGHTSIZE_STORE", "prices.db");
}

Result<PriceStore> PriceStore::open(const std::string& url, store::Access access) {
  const bool reads = access == store::Access::kRead;
  if (url.empty() && !reads)
    return fail(bad_input("there is no home folder for the price store").with_hint("name one with --store"));
  store::Schema schema{"version",
                       {"offer", "current_price", "machine", "interruption", "import", "price", "listing"},
                       {{std::begin(kTables), std::end(kTables)}, {std::begin(kFeedTables), std::end(kFeedTables)}}};
  schema.steps.front().push_back(std::string(kHistory) + (store::is_server(url) ? "" : " WITHOUT ROWID"));
  RIGHTSIZE_TRY(const bool exists, store::exists(url));
  if (exists || !reads) {
    RIGHTSIZE_TRY(store::OpenStore opened, store::open(url, access, schema));
    if (!reads || opened.ready.was > 0) return PriceStore(std::move(opened.database));
  }
  // A file or server without our tables reads as an empty store.
  RIGHTSIZE_TRY(store::OpenStore opened, store::open(":memory:", store::Access::kWrite, schema));
  return PriceStore(std::move(opened.database));
}

Result<Audit> PriceStore::save(const Import& import, const ImportLabel& label) {
  Audit audit;
  Result<> saved = store::in_transaction(*database_, [&]() -> Result<> {
    RIGHTSIZE_TRY(audit, ImportWriter(*database_, import, label).save());
    return {};
  });
  if (!saved) return fail(std::move(saved).error());
  return audit;
}

Result<> PriceStore::add_to(catalog::Catalog& catalog) {
  std::set<std::string> gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) gpus.insert(gpu.name);
  std::set<std::pair<std::string, std::string>> machines;
  for (const Machine& machine : catalog.machines) machines.emplace(machine.provider, machine.instance);
  const std::string file = database_->name();
  Result<> read = database_->query(
      "SELECT provider, instance, gpu, gpus, vcpus, memory_gib, interconnect, community, doubts, note, feed, day FROM "
      "machine ORDER BY provider, instance",
      {}, [&](const store::Row& row) {
        if (!gpus.contains(std::string(row.text(2)))) return;
        if (!machines.emplace(row.text(0), row.text(1)).second) return;
        Machine machine;
        machine.provider = row.text(0);
        machine.instance = row.text(1);
        machine.gpu = row.text(2);
        machine.gpus = static_cast<int>(row.integer(3));
        if (!row.is_null(4)) machine.vcpus = row.number(4);
        if (!row.is_null(5)) machine.memory = gib(row.number(5));
        machine.interconnect = row.text(6);
        machine.community = row.integer(7) != 0;
        machine.provenance = {{std::string(row.text(10))},
                              Date{static_cast<int>(row.integer(11))},
                              apart(row.text(8)),
                              std::string(row.text(9)),
                              file,
                              0};
        catalog.machines.push_back(std::move(machine));
      });
  if (!read) return read;
  // The newest price of each offer from any feed. Known days come before unknown ones; on the same day the user's own
  // table wins.
  using Rank = std::tuple<bool, std::int64_t, bool, std::string>;
  using Region = std::tuple<std::string, std::string, std::string, Purchase>;
  std::map<Region, std::vector<Price>> stored;
  std::int64_t last_offer = 0;
  Rank last_rank;
  read = database_->query(
      "SELECT o.provider, o.instance, o.region, o.zone, o.purchase, p.day, p.usd, p.feed, p.doubts, p.note, (SELECT "
      "MIN(h.day) FROM price h WHERE h.offer = p.offer), p.currency, p.amount, p.rate, p.rate_day, p.rate_source, "
      "p.offer FROM current_price p JOIN offer o ON o.id = p.offer ORDER BY p.offer",
      {}, [&](const store::Row& row) {
        const PricePoint point = point_of(row);
        if (!machines.contains({point.provider, point.instance})) return;
        Price price;
        price.provider = point.provider;
        price.instance = point.instance;
        price.region = point.region;
        price.zone = point.zone;
        price.purchase = point.purchase;
        price.machine_price = usd_per_machine_hour(point.usd_per_hour);
        const std::string feed(row.text(7));
        price.provenance = {{feed}, point.date, apart(row.text(8)), std::string(row.text(9)), file, 0};
        if (!row.is_null(10)) price.since = Date{static_cast<int>(row.integer(10))};
        if (row.text(11) != catalog::kDollars)
          price.converted = catalog::Conversion{row.number(12),
                                                {std::string(row.text(11)), row.number(13),
                                                 Date{static_cast<int>(row.integer(14))}, std::string(row.text(15))}};
        Rank rank(!has(price.provenance.unverified, "date"), point.date.day, feed == "csv", feed);
        std::vector<Price>& prices = stored[{price.provider, price.instance, price.region, price.purchase}];
        const bool again = !prices.empty() && row.integer(16) == last_offer;
        if (again && !(last_rank < rank)) return;
        if (again) prices.pop_back();
        prices.push_back(std::move(price));
        last_offer = row.integer(16);
        last_rank = std::move(rank);
      });
  if (!read) return read;
  // The newer of a region's prices wins; a row in the user's own files always does.
  const auto day_of = [](const std::vector<Price>& prices) {
    std::optional<Date> day;
    for (const Price& price : prices) {
      if (!has(price.provenance.unverified, "date")) day = std::max(day, price.provenance.date);
    }
    return day;
  };
  std::erase_if(catalog.prices, [&](const Price& price) {
    const auto newer = stored.find({price.provider, price.instance, price.region, price.purchase});
    if (newer == stored.end()) return false;
    const bool user = !price.provenance.file.starts_with("data/");
    if (!user && price.provenance.date && day_of(newer->second) >= price.provenance.date) return true;
    stored.erase(newer);
    return false;
  });
  for (auto& [region, prices] : stored) {
    std::ranges::sort(prices, {}, &Price::zone);  // the numbers of offers depend on the order of imports
    std::move(prices.begin(), prices.end(), std::back_inserter(catalog.prices));
  }
  return {};
}

Result<std::vector<PricePoint>> PriceStore::history(const PriceFilter& filter) {
  store::Where conditions = where(filter);
  if (filter.from) conditions.compare("p.day >=", filter.from->day);
  if (filter.until) conditions.compare("p.day <=", filter.until->day);
  return store::rows(
      *database_,
      "SELECT o.provider, o.instance, o.region, o.zone, o.purchase, p.day, p.usd FROM offer o JOIN price p ON "
      "p.offer = o.id" +
          conditions.text() + " ORDER BY o.provider, o.instance, o.region, o.zone, o.purchase, p.day",
      conditions.values(), point_of);
}

Result<std::vector<PriceChange>> PriceStore::diff(const PriceFilter& filter, Date before, Date after) {
  PriceFilter all = filter;
  all.from = Date{before.day - 400};
  all.until = after;
  RIGHTSIZE_TRY(const std::vector<PricePoint> points, history(all));
  std::vector<PriceChange> changes;
  for (const PricePoint& point : points) {
    if (changes.empty() || changes.back().offer.key() != point.key()) changes.push_back({point, {}, {}});
    PriceChange& change = changes.back();
    change.offer = point;
    if (point.date <= before) change.before = point.usd_per_hour;
    if (point.date > before) change.after = point.usd_per_hour;
  }
  // A price that was not read again still counts; the next complete import will show whether it was withdrawn.
  std::erase_if(changes, [](const PriceChange& change) { return !change.after || change.before == change.after; });
  return changes;
}

Result<std::vector<InterruptionRow>> PriceStore::interruptions() {
  return store::rows(*database_, "SELECT provider, instance, region, least, most FROM interruption", {},
                     [](const store::Row& row) {
                       return InterruptionRow{std::string(row.text(0)), std::string(row.text(1)),
                                              std::string(row.text(2)), row.number(3), row.number(4)};
                     });
}

Result<std::int64_t> PriceStore::forget_before(Date date) {
  std::int64_t count = 0;
  const std::string old =
      " FROM price WHERE day < $1 AND day < (SELECT MAX(q.day) FROM price q WHERE q.offer = price.offer)";
  Result<> done = store::in_transaction(*database_, [&] {
    return database_
        ->query("SELECT COUNT(*)" + old, {std::int64_t{date.day}},
                [&](const store::Row& row) { count = row.integer(0); })
        .and_then([&] { return database_->run("DELETE" + old, {std::int64_t{date.day}}); });
  });
  if (!done) return fail(std::move(done).error());
  return count;
}

}  // namespace rightsize::feeds
