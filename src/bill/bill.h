// A bill: charges by machine, commitment and team.
//
//   BillReader reader(catalog);
//   reader.read("bill.csv.gz");                  // FOCUS (focus.h); memory does not grow with the number of rows
//   const Bill bill = reader.finish();
//   bill.total.effective;                        // exact to the cent
//   effective_prices(bill)["p5.48xlarge"];       // what an hour really costs, after discounts and commitments
//
// Effective cost contains the amortised part of commitments, so the purchase of a commitment itself has none. The
// unused part of commitments is listed separately; it is part of the total, but not of any machine.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "bill/focus.h"
#include "catalog/catalog.h"

namespace rightsize::bill {

struct Costs {
  Money billed, effective, list;
  bool listed = true;  // every row has a list cost

  void add(const Charge& charge) {
    billed += charge.billed, effective += charge.effective, list += charge.list;
    listed = listed && charge.listed;
  }
  // The share that the effective cost is below the list cost; empty if that is unknown.
  std::optional<double> discount() const;
};

// One kind of machine on one kind of terms.
struct MachineCost {
  const catalog::Machine* machine = nullptr;  // with GPUs
  Pricing pricing = Pricing::kStandard;
  double hours = 0;
  Costs costs;
  std::map<int, Money> by_day = {};  // effective

  double gpu_hours() const { return hours * machine->gpus; }
  // Empty without hours.
  std::optional<UsdPerMachineSecond> rate() const;
};

struct Commitment {
  std::string id, type;
  Money purchased;     // billed for the commitment itself
  Money used, unused;  // effective cost that covered usage, and that did not

  double unused_share() const;
};

// One team's part, by the value of a tag or of a column.
struct TeamCost {
  std::string name;
  Money effective, gpu;              // of everything; of machines with GPUs
  std::map<int, Money> by_day = {};  // effective
};

// One machine with GPUs, by its ID.
struct MachineUse {
  std::string id, name;
  const catalog::Machine* machine = nullptr;
  struct Day {
    double hours = 0;
    Money effective;
  };
  std::map<int, Day> days = {};
};

struct Bill {
  std::uint64_t rows = 0;
  std::string currency;
  int first_day = 0, last_day = 0;  // since 1970-01-01
  Costs total;
  std::map<Category, Costs> categories;
  std::map<std::string, Money> services;  // effective cost without GPU machines, by service category
  std::vector<MachineCost> machines;      // with GPUs, most expensive first
  Money gpu;                              // effective, of all machines and of GPUs billed separately
  Money hosts;                            // of it, cores and memory billed apart from their GPUs
  std::vector<Commitment> commitments;    // most unused first
  std::vector<TeamCost> teams;            // the most expensive first; "" without a name
  std::vector<MachineUse> uses;
  std::string team_tag;              // the tag or the column that names teams; empty: no known tag is present
  bool by_tag = true;                // otherwise by a column
  std::vector<std::string> columns;  // of the files, and the tags of their rows
  std::set<std::string> tags;
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<const catalog::Machine>> bare_gpus;  // GPUs that are billed without a machine
};

class BillReader {
 public:
  // `by`: what names a team: a column of the files by its name, a tag, or one of kGroups. Empty: the first tag of team,
  // owner, cost-center, costcenter, project that a row has. The catalogue must outlive the reader.
  explicit BillReader(const catalog::Catalog& catalog, std::string by = {});
  // What every bill can be grouped by, whatever its columns are called: "project", "account", "service" ...
  static std::vector<std::string> groups();

  // Selects rows by team and by a range of days (both ends included). Empty: all.
  struct Only {
    std::string team = {};
    std::optional<int> first_day = {}, last_day = {};
  };
  void take_only(Only only) { only_ = std::move(only); }

  Result<> read(const std::string& path);
  Result<> read(ByteSource& source, const std::string& name);
  void take(const Charge& charge);
  Bill finish();

 private:
  struct Known {
    const catalog::Machine* machine = nullptr;
    bool gpu = false;   // of a machine, or billed separately
    bool host = false;  // cores or memory, billed apart from the GPUs
  };
  enum GroupSource : unsigned char { kColumn, kTag, kMeaning, kGroupSources };
  using Groups = std::unordered_map<std::string, TeamCost>;

  void add_rows(const FocusOutcome& outcome);
  Known machine_of(const Charge& charge);
  const catalog::Machine* bare_gpu(const Charge& charge);
  bool is_host_part(std::string_view description) const;
  const catalog::Machine* find_machine(std::string_view type) const;
  const catalog::Machine* machine_in_others(const Charge& charge);
  std::string_view team_of(const Charge& charge, GroupSource source, const catalog::Machine* machine);
  bool is_wanted(const Charge& charge);

  std::unordered_map<std::string, const catalog::Machine*> types_;  // with GPUs, by instance type in lower case
  std::unordered_map<std::string, Known> seen_;                     // results by text
  std::map<std::pair<const catalog::Machine*, Pricing>, MachineCost> machines_;
  std::unordered_map<std::string, Commitment> commitments_;
  std::array<Groups, kGroupSources> teams_;
  std::unordered_map<std::string, MachineUse> uses_;
  const catalog::Catalog& catalog_;
  std::string by_, key_;
  Only only_;
  std::map<std::string, std::uint64_t> tags_found_;
  std::uint64_t left_out_ = 0, other_currency_ = 0;
  int last_covered_ = 0;                       // the last day that a charge covers
  Money partly_;                               // of rows that the selected days cover in part
  bool by_month_ = true;                       // no charge covers a single day
  std::optional<std::size_t> machine_column_;  // of Charge::others
  int looked_ = 0;                             // rows, before a column was found
  Bill bill_;
};

// The hourly cost of each machine over all terms, by instance type in lower case. Without spot, the cost of a machine
// that is not interrupted.
std::map<std::string, UsdPerMachineSecond> effective_prices(const Bill& bill, bool with_spot = true);

// A machine that costs more than twice its highest on-demand price: a quantity is probably in another unit.
struct DoubtfulPrice {
  std::string instance;
  UsdPerMachineSecond paid, highest;
};
std::vector<DoubtfulPrice> doubtful_prices(const Bill& bill, const std::vector<catalog::Price>& list);

}  // namespace rightsize::bill
