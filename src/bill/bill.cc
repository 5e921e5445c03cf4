#include "bill/bill.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::bill {
namespace {

// Beyond these, memory would grow with the bill; costs still count in the totals.
constexpr std::size_t kMostMachines = 200'000, kMostTeams = 20'000, kMostCommitments = 50'000, kMostTexts = 100'000,
                      kMostTags = 40;

constexpr std::array<std::string_view, 6> kTeamTags = {"team",       "owner",       "cost-center",
                                                       "costcenter", "cost_center", "project"};

// What a user calls the parts of a bill.
struct Group {
  std::string_view words;
  std::string_view (*text)(const Charge& charge, const catalog::Machine* machine);
};
constexpr Group kGroups[] = {
    {"project account subscription subaccount", [](const Charge& c, const catalog::Machine*) { return c.sub_account; }},
    {"service product", [](const Charge& c, const catalog::Machine*) { return c.service; }},
    {"region location", [](const Charge& c, const catalog::Machine*) { return c.region; }},
    {"provider cloud", [](const Charge& c, const catalog::Machine*) { return c.provider; }},
    {"gpu", [](const Charge&, const catalog::Machine* m) { return m ? std::string_view(m->gpu) : std::string_view(); }},
    {"instance machine",
     [](const Charge&, const catalog::Machine* m) { return m ? std::string_view(m->instance) : std::string_view(); }},
    {"resource", [](const Charge& c,
                    const catalog::Machine*) { return c.resource_name.empty() ? c.resource_id : c.resource_name; }},
    {"terms pricing", [](const Charge& c, const catalog::Machine*) { return name_of(c.pricing); }},
    {"category", [](const Charge& c, const catalog::Machine*) { return name_of(c.category); }},
};

const Group* group_called(std::string_view name) {
  for (const Group& group : kGroups) {
    for (const std::string_view word : split_list(group.words, ' ')) {
      if (word == to_lower(name)) return &group;
    }
  }
  return nullptr;
}

template <class Map>
typename Map::mapped_type* slot(Map& map, std::string& key, std::string_view text, std::size_t most) {
  key.assign(text);
  const auto found = map.find(key);
  if (found != map.end()) return &found->second;
  return map.size() < most ? &map[key] : nullptr;
}

bool in_type(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_'; }

bool mentions_gpu(std::string_view text) {
  const std::string lower = to_lower(text);
  return lower.find("gpu") != std::string::npos || lower.find("nvidia") != std::string::npos;
}

// Google Cloud bills the cores, the memory and the GPUs of a machine separately, each with its own time. The hours of
// the machine are those of one of its GPUs.
double machine_hours(const Charge& charge, const catalog::Machine& machine) {
  if (charge.category != Category::kUsage) return 0;
  if (!charge.provider.starts_with("Google")) return charge.hours;
  const std::string lower = to_lower(charge.description);
  if (mentions_gpu(lower)) return charge.hours / machine.gpus;
  const bool part = lower.find(" core") != std::string::npos || lower.find(" ram") != std::string::npos ||
                    lower.find("memory") != std::string::npos || lower.find("ssd") != std::string::npos;
  return part ? 0 : charge.hours;
}

}  // namespace

std::optional<UsdPerMachineSecond> MachineCost::rate() const {
  if (hours <= 0 || costs.effective <= Money()) return std::nullopt;
  return usd_per_machine_hour(costs.effective.amount() / hours);
}

std::optional<double> Costs::discount() const {
  if (!listed || !(list > Money())) return std::nullopt;
  return 1 - effective.amount() / list.amount();
}

double Commitment::unused_share() const {
  const double all = (used + unused).amount();
  return all > 0 ? unused.amount() / all : 0;
}

BillReader::BillReader(const catalog::Catalog& catalog, std::string by) : catalog_(catalog), by_(std::move(by)) {
  for (const catalog::Machine& machine : catalog.machines) {
    if (machine.gpus > 0) types_.emplace(to_lower(machine.instance), &machine);
  }
  // "projects" are grouped by "project".
  const std::string one = by_.ends_with('s') ? to_lower(by_.substr(0, by_.size() - 1)) : "";
  if (group_called(one) != nullptr || std::ranges::find(kTeamTags, one) != std::end(kTeamTags)) by_ = one;
}

std::vector<std::string> BillReader::groups() {
  std::vector<std::string> all;
  for (const Group& group : kGroups) all.emplace_back(group.words.substr(0, group.words.find(' ')));
  return all;
}

const catalog::Machine* BillReader::find_machine(std::string_view type) const {
  if (type.starts_with("ml.")) type.remove_prefix(3);
  const auto found = types_.find(to_lower(type));
  return found == types_.end() ? nullptr : found->second;
}

// Searches columns with other names (ResourceType, a company's own) for the first cell with the name of a GPU machine.
const catalog::Machine* BillReader::machine_in_others(const Charge& charge) {
  constexpr int kMostRows = 20'000;  // then the file has no such column
  constexpr std::size_t kShortest = 3, kLongest = 64;
  if (machine_column_)
    return *machine_column_ < charge.others.size() ? find_machine(charge.others[*machine_column_]) : nullptr;
  if (looked_++ >= kMostRows) return nullptr;
  for (std::size_t i = 0; i < charge.others.size(); ++i) {
    const std::string_view cell = charge.others[i];
    if (cell.size() < kShortest || cell.size() > kLongest) continue;
    if (const catalog::Machine* machine = find_machine(cell)) {
      machine_column_ = i;
      return machine;
    }
  }
  return nullptr;
}

// Google Cloud sells GPUs apart from the machine: "Nvidia Tesla A100 80GB GPU running in Americas".
const catalog::Machine* BillReader::bare_gpu(const Charge& charge) {
  const std::string_view text = charge.description;
  const std::size_t end = text.find(" GPU"), begin = to_lower(text).find("nvidia");
  if (begin >= end || end == std::string_view::npos) return nullptr;
  const auto fits = catalog_.match_gpus(text.substr(begin, end - begin));
  if (!fits) return nullptr;
  for (const catalog::Gpu* gpu : *fits) {
    const auto sold = std::ranges::find_if(
        catalog_.machines, [&](const catalog::Machine& m) { return m.gpu == gpu->name && m.provider == "gcp"; });
    if (sold == catalog_.machines.end()) continue;
    for (const auto& known : bill_.bare_gpus) {
      if (known->gpu == gpu->name) return known.get();
    }
    catalog::Machine alone;
    alone.provider = sold->provider, alone.gpu = gpu->name, alone.gpus = 1;
    alone.instance = "GPU without its machine";
    bill_.bare_gpus.push_back(std::make_shared<const catalog::Machine>(std::move(alone)));
    return bill_.bare_gpus.back().get();
  }
  return nullptr;
}

// "A2 Instance Core running in Americas": every machine of the family has GPUs.
bool BillReader::is_host_part(std::string_view description) const {
  const std::size_t end = description.find(" Instance ");
  if (end == std::string_view::npos) return false;
  const std::size_t begin = description.substr(0, end).rfind(' ');
  const std::string family =
      to_lower(description.substr(begin == std::string_view::npos ? 0 : begin + 1, end - begin - 1)) + "-";
  bool found = false;
  for (const catalog::Machine& machine : catalog_.machines) {
    if (machine.provider != "gcp" || !machine.instance.starts_with(family)) continue;
    if (machine.gpus == 0 || machine.instance.find('+') != std::string::npos) return false;
    found = true;
  }
  return found;
}

// From the columns for the machine type, or any word of the usage type or the description.
BillReader::Known BillReader::machine_of(const Charge& charge) {
  std::string_view text = json_text(charge.price_details, "InstanceType");
  if (text.empty()) text = charge.instance_type;
  // Azure's additional information; a system label of Google Cloud.
  if (text.empty()) text = json_text(charge.sku_details, "ServiceType");
  if (text.empty() && charge.provider.starts_with("Google"))
    text = json_text(charge.tags, "compute.googleapis.com/machine_spec");
  const bool named = !text.empty();
  key_.assign(named ? text : charge.usage_type);
  if (!named) key_.append(" ").append(charge.description);
  if (const catalog::Machine* machine = named ? nullptr : machine_in_others(charge)) return {machine, true};
  if (const auto known = seen_.find(key_); known != seen_.end()) return known->second;
  Known found;
  if (named) found.machine = find_machine(text);
  const bool google = charge.provider.starts_with("Google"), compute = charge.service_category == "Compute";
  // Other providers have machines called "H100".
  if (!named && google && compute) found.machine = bare_gpu(charge);
  for (std::size_t i = 0; i < key_.size() && found.machine == nullptr;) {
    const std::size_t begin = i;
    while (i < key_.size() && in_type(key_[i])) ++i;
    if (i > begin) found.machine = find_machine(std::string_view(key_).substr(begin, i - begin));
    if (i == begin) ++i;
  }
  if (!named && compute && found.machine == nullptr) {
    found.host = google && is_host_part(charge.description);
    found.gpu = found.host || mentions_gpu(charge.description);
  }
  found.gpu = found.gpu || found.machine != nullptr;
  if (seen_.size() < kMostTexts) seen_.emplace(key_, found);
  return found;
}

std::string_view BillReader::team_of(const Charge& charge, GroupSource source, const catalog::Machine* machine) {
  if (source == kColumn) return charge.group;
  if (source == kMeaning) {
    const Group* group = group_called(by_);
    return group == nullptr ? std::string_view() : group->text(charge, machine);
  }
  if (!by_.empty()) return json_text(charge.tags, by_);
  for (const std::string_view tag : kTeamTags) {
    if (const std::string_view value = json_text(charge.tags, tag); !value.empty()) {
      ++tags_found_[std::string(tag)];
      return value;
    }
  }
  return {};
}

bool BillReader::is_wanted(const Charge& charge) {
  // A row of a month is counted whole: its days are not told apart.
  const int last = charge.day + std::max(charge.days, 1) - 1;
  if ((only_.first_day && last < *only_.first_day) || (only_.last_day && charge.day > *only_.last_day)) return false;
  if (only_.team.empty()) return true;
  const catalog::Machine* machine = by_.empty() ? nullptr : machine_of(charge).machine;
  for (const GroupSource source : {kColumn, kTag, kMeaning}) {
    if (fold_name(team_of(charge, source, machine)) == fold_name(only_.team)) return true;
  }
  return false;
}

void BillReader::take(const Charge& charge) {
  if (bill_.currency.empty()) bill_.currency = charge.currency;
  if (!charge.currency.empty() && charge.currency != bill_.currency) {
    ++other_currency_;
    return;
  }
  if (!is_wanted(charge)) return;
  if (charge.days > 1 && ((only_.first_day && charge.day < *only_.first_day) ||
                          (only_.last_day && charge.day + charge.days - 1 > *only_.last_day)))
    partly_ += charge.effective;
  bill_.total.add(charge);
  bill_.categories[charge.category].add(charge);
  if (charge.day > 0) {
    bill_.first_day = bill_.first_day == 0 ? charge.day : std::min(bill_.first_day, charge.day);
    bill_.last_day = std::max(bill_.last_day, charge.day);
    last_covered_ = std::max(last_covered_, charge.day + charge.days - 1);
    by_month_ = by_month_ && charge.days > 1;
  }
  const bool unused = charge.commitment_status == "Unused";
  if (!charge.commitment_id.empty()) {
    if (Commitment* commitment = slot(commitments_, key_, charge.commitment_id, kMostCommitments)) {
      if (commitment->id.empty()) commitment->id = charge.commitment_id;
      if (commitment->type.empty()) commitment->type = charge.commitment_type;
      if (charge.category == Category::kPurchase)
        commitment->purchased += charge.billed;
      else
        (unused ? commitment->unused : commitment->used) += charge.effective;
    }
  }
  // Taxes are charged on other rows, purchases cover later ones.
  const bool of_machine = !unused && charge.category != Category::kTax && charge.category != Category::kPurchase;
  const Known known = of_machine ? machine_of(charge) : Known{};
  if (known.gpu) bill_.gpu += charge.effective;
  if (known.host) bill_.hosts += charge.effective;
  if (known.machine != nullptr) {
    MachineCost& cost = machines_[{known.machine, charge.pricing}];
    cost.machine = known.machine;
    cost.pricing = charge.pricing;
    const double hours = machine_hours(charge, *known.machine);
    cost.hours += hours;
    cost.costs.add(charge);
    for (int i = 0; i < charge.days; ++i) cost.by_day[charge.day + i] += charge.effective.part(i, charge.days);
    if (!charge.resource_id.empty()) {
      if (MachineUse* use = slot(uses_, key_, charge.resource_id, kMostMachines)) {
        if (use->id.empty()) {
          use->id = charge.resource_id;
          use->name = charge.resource_name;
          use->machine = known.machine;
        }
        for (int i = 0; i < charge.days; ++i) {
          MachineUse::Day& day = use->days[charge.day + i];
          day.hours += hours / charge.days;
          day.effective += charge.effective.part(i, charge.days);
        }
      } else {
        ++left_out_;
      }
    }
  } else if (charge.category == Category::kUsage && !unused && !known.gpu) {
    bill_.services[std::string(charge.service_category.empty() ? charge.service : charge.service_category)] +=
        charge.effective;
  }
  if (!by_.empty() && bill_.tags.size() < kMostTags) {
    each_json_text(charge.tags, [&](std::string_view tag, std::string_view) {
      bill_.tags.emplace(tag);
      return true;
    });
  }
  for (const GroupSource source : {kColumn, kTag, kMeaning}) {
    if (by_.empty() && source != kTag && (source != kColumn || charge.group.empty())) continue;
    TeamCost* team = slot(teams_[source], key_, team_of(charge, source, known.machine), kMostTeams);
    if (team == nullptr) continue;
    team->effective += charge.effective;
    if (known.gpu) team->gpu += charge.effective;
    // A month's storage must not appear as a peak on the first day.
    for (int i = 0; i < charge.days; ++i) team->by_day[charge.day + i] += charge.effective.part(i, charge.days);
  }
}

void BillReader::add_rows(const FocusOutcome& outcome) {
  bill_.rows += outcome.rows;
  bill_.notes.insert(bill_.notes.end(), outcome.notes.begin(), outcome.notes.end());
  for (const std::string& column : outcome.columns) {
    if (std::ranges::find(bill_.columns, column) == bill_.columns.end()) bill_.columns.push_back(column);
  }
}

Result<> BillReader::read(const std::string& path) {
  RIGHTSIZE_TRY(const FocusOutcome outcome, read_focus(
                                                path, [this](const Charge& charge) { take(charge); }, by_));
  add_rows(outcome);
  return {};
}

Result<> BillReader::read(ByteSource& source, const std::string& name) {
  RIGHTSIZE_TRY(const FocusOutcome outcome, read_focus(
                                                source, name, [this](const Charge& charge) { take(charge); }, by_));
  add_rows(outcome);
  return {};
}

Bill BillReader::finish() {
  Bill bill = std::move(bill_);
  // A month's fee is charged in advance, so it does not end the period of a bill by days; other bills have nothing
  // else.
  if (by_month_) bill.last_day = std::max(bill.last_day, last_covered_);
  for (auto& [key, cost] : machines_) bill.machines.push_back(std::move(cost));
  for (auto& [key, commitment] : commitments_) bill.commitments.push_back(std::move(commitment));
  // What the file itself calls by the name comes first.
  const auto used = std::ranges::find_if(teams_, [](const Groups& groups) {
    return std::ranges::any_of(groups, [](const auto& group) { return !group.first.empty(); });
  });
  const bool by_column = used == teams_.begin() + kColumn;
  bill.by_tag = !by_column && (by_.empty() || used == teams_.begin() + kTag);
  for (auto& [key, team] : used == teams_.end() ? teams_[kTag] : *used) {
    team.name = key;
    bill.teams.push_back(std::move(team));
  }
  for (auto& [key, use] : uses_) bill.uses.push_back(std::move(use));
  std::ranges::sort(bill.machines, [](const MachineCost& a, const MachineCost& b) {
    return std::tuple(b.costs.effective, a.machine->instance, a.pricing) <
           std::tuple(a.costs.effective, b.machine->instance, b.pricing);
  });
  std::ranges::sort(bill.commitments, [](const Commitment& a, const Commitment& b) {
    return std::tie(b.unused, a.id) < std::tie(a.unused, b.id);
  });
  std::ranges::sort(bill.teams, [](const TeamCost& a, const TeamCost& b) {
    return std::tie(b.effective, a.name) < std::tie(a.effective, b.name);
  });
  std::ranges::sort(bill.uses, {}, &MachineUse::id);
  bill.team_tag = by_column && by_.empty() ? to_lower(bill.columns.front()) : by_;
  std::uint64_t most = 0;
  for (const auto& [tag, rows] : tags_found_) {
    if (rows > most && !by_column) bill.team_tag = tag, most = rows;
  }
  if (partly_.amount() != 0)
    bill.notes.push_back(fmt::format(
        "{:.2f} {} are from rows of several days that begin before or end after the period; they are counted whole",
        partly_.amount(), bill.currency));
  if (other_currency_ > 0) {
    bill.notes.push_back(
        fmt::format("{} rows in another currency than {} were left out", other_currency_, bill.currency));
  }
  if (!bill.currency.empty() && bill.currency != "USD") {
    bill.notes.push_back(
        fmt::format("the bill is in {}; rightsize counts in dollars and does not convert", bill.currency));
  }
  if (bill.hosts > Money() && !bill.bare_gpus.empty()) {
    bill.notes.push_back(fmt::format("the cores and memory of these GPUs are billed apart: {:.2f} {} more",
                                     bill.hosts.amount(), bill.currency.empty() ? "USD" : bill.currency));
  }
  if (left_out_ > 0) bill.notes.push_back(fmt::format("more than {} machines: the rest is not listed", kMostMachines));
  return bill;
}

std::map<std::string, UsdPerMachineSecond> effective_prices(const Bill& bill, bool with_spot) {
  std::map<std::string, std::pair<double, Money>> sums;  // hours, effective
  for (const MachineCost& cost : bill.machines) {
    if (cost.pricing == Pricing::kSpot && !with_spot) continue;
    auto& [hours, effective] = sums[to_lower(cost.machine->instance)];
    hours += cost.hours;
    effective += cost.costs.effective;
  }
  std::map<std::string, UsdPerMachineSecond> prices;
  for (const auto& [instance, sum] : sums) {
    if (sum.first > 0 && sum.second > Money())
      prices.emplace(instance, usd_per_machine_hour(sum.second.amount() / sum.first));
  }
  return prices;
}

std::vector<DoubtfulPrice> doubtful_prices(const Bill& bill, const std::vector<catalog::Price>& list) {
  constexpr double kTooMuch = 2;
  std::vector<DoubtfulPrice> doubtful;
  for (const MachineCost& cost : bill.machines) {
    UsdPerMachineSecond highest;
    for (const catalog::Price& price : list)
      if (price.purchase == catalog::Purchase::kOnDemand && price.instance == cost.machine->instance)
        highest = std::max(highest, price.machine_price);
    const UsdPerMachineSecond paid = cost.rate().value_or(UsdPerMachineSecond{});
    if (highest > UsdPerMachineSecond{} && paid > highest * kTooMuch)
      doubtful.push_back({cost.machine->instance, paid, highest});
  }
  return doubtful;
}

}  // namespace rightsize::bill
