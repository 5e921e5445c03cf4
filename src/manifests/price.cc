#include "manifests/price.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/place.h"
#include "catalog/words.h"

namespace rightsize::manifests {
namespace {

using catalog::Gpu;
using catalog::Machine;
using catalog::Purchase;

class Pricing {
 public:
  Pricing(const GpuRequest& request, const market::PriceBook& book, const PriceAssumptions& assumptions)
      : request_(request),
        book_(book),
        assumptions_(assumptions),
        provider_(request.provider.empty() ? assumptions.provider : request.provider),
        regions_(request.region.empty() ? assumptions.regions : std::vector{catalog::region_of_place(request.region)}) {
    if (regions_.empty()) regions_.emplace_back();
  }

  Cost price() {
    cost_.doubts = request_.unresolved;
    cost_.doubts.insert(cost_.doubts.end(), request_.assumptions.begin(), request_.assumptions.end());
    if (!by_machine() && !by_gpu()) {
      if (cost_.doubts.empty() || cost_.gpu == nullptr) explain_unpriced();
    }
    over_time();
    return std::move(cost_);
  }

 private:
  Purchase purchase() const { return request_.spot ? Purchase::kSpot : Purchase::kOnDemand; }

  static bool is_type(const Machine& machine, const std::string& type) {
    std::string_view name = type;
    if (name.starts_with("ml.")) name.remove_prefix(3);
    if (name.ends_with(".*")) return std::string_view(machine.instance).starts_with(name.substr(0, name.size() - 1));
    if (machine.instance == name) return true;
    // Azure's names ignore case.
    return name.size() == machine.instance.size() && to_lower(name).starts_with("standard_") &&
           to_lower(machine.instance) == to_lower(name);
  }

  // Machines of any of the types; one with guest accelerators is "n1-standard-8+1xT4" in the catalogue.
  std::vector<const Machine*> machines() const {
    std::vector<const Machine*> found;
    for (const Machine& machine : book_.catalog().machines) {
      if (!request_.provider.empty() && machine.provider != request_.provider) continue;
      for (const std::string& type : request_.machines) {
        const bool with_guest = !request_.gpus.empty() && machine.instance.starts_with(type + "+") &&
                                names(machine.gpu) && request_.per_unit == static_cast<double>(machine.gpus);
        if ((is_type(machine, type) && machine.gpus > 0) || with_guest) found.push_back(&machine);
      }
      if (request_.ordered && !found.empty()) break;
    }
    return found;
  }

  bool names(const std::string& gpu) const {
    const std::vector<const Gpu*> all = gpus();
    return std::any_of(all.begin(), all.end(), [&](const Gpu* each) { return each->name == gpu; });
  }

  // GPUs of any of the names; names that are not GPUs (a constraint such as "ib") are skipped.
  std::vector<const Gpu*> gpus() const {
    std::vector<const Gpu*> found;
    for (const std::string& name : request_.gpus) {
      const Result<std::vector<const Gpu*>> some = book_.catalog().match_gpus(name);
      if (!some) continue;
      found.insert(found.end(), some->begin(), some->end());
      if (request_.ordered && !found.empty()) break;
    }
    return with_slice(std::move(found));
  }

  // Of a family's members, those that have the MIG profile: a 1g.5gb is of the A100 with 40 GB.
  std::vector<const Gpu*> with_slice(std::vector<const Gpu*> family) const {
    if (request_.mig_profile.empty()) return family;
    const std::vector<const Gpu*> sliced = gpus_with_slice();
    std::vector<const Gpu*> both;
    for (const Gpu* gpu : family) {
      if (std::ranges::find(sliced, gpu) != sliced.end()) both.push_back(gpu);
    }
    return both.empty() ? family : both;
  }

  bool is_here(const market::MachineQuote& quote) const {
    return !quote.offer || std::ranges::any_of(regions_, [&](const std::string& region) {
      return catalog::holds_in(quote.offer->price->region, region);
    });
  }

  // The price in the machine's own region. Spot prices of other regions say little, so the list price has priority over
  // them.
  std::optional<market::MachineQuote> quote_of(const Machine& machine) const {
    std::optional<market::MachineQuote> best;
    for (const Purchase terms : {purchase(), Purchase::kOnDemand}) {
      for (const std::string& region : regions_) {
        const auto here = book_.machine(machine, terms, region);
        if (here && is_here(*here) && (!best || here->rate < best->rate)) best = here;
      }
      if (best) return best;
    }
    return book_.machine(machine, Purchase::kOnDemand, regions_.front());
  }

  bool by_machine() {
    std::optional<market::MachineQuote> best;
    const Machine* chosen = nullptr;
    std::size_t known = 0;
    for (const Machine* machine : machines()) {
      ++known;
      const std::optional<market::MachineQuote> quote = quote_of(*machine);
      if (!quote || (best && quote->rate >= best->rate)) continue;
      best = quote;
      chosen = machine;
    }
    if (chosen == nullptr) return false;
    const Result<const Gpu*> gpu = book_.catalog().find_gpu(chosen->gpu);
    cost_.gpu = gpu ? *gpu : nullptr;
    cost_.source = best->source();
    if (std::ranges::any_of(request_.machines, [](const std::string& type) { return type.starts_with("ml."); }))
      cost_.doubts.emplace_back("SageMaker's own price is not on file: priced as EC2, which costs less");
    if (known > 1) cost_.doubts.push_back(fmt::format("priced as the cheapest of {} machine types", known));
    if (request_.spot && best->offer && best->offer->price->purchase != Purchase::kSpot) {
      cost_.doubts.emplace_back("no spot price on file: priced on demand");
    }
    if (best->offer && !is_here(*best)) {
      cost_.doubts.push_back(fmt::format("no price in {} on file: priced in {}",
                                         regions_.size() == 1 ? regions_.front() : "these regions",
                                         best->offer->price->region));
    }
    const double each = request_.per_unit.value_or(chosen->gpus);
    if (!request_.ceiling && !request_.whole_machines && each > chosen->gpus) {
      cost_.misfits.push_back(
          fmt::format("a pod requests {:.0f} GPUs, {} has {}", each, chosen->instance, chosen->gpus));
    }
    if (!check_slice()) return true;
    // Whole machines are paid in full; pods pay their share of the machine they run on.
    const double machines_each = request_.whole_machines ? 1 : each * slice_share_ / chosen->gpus;
    const UsdPerSecond of_one = best->rate * rightsize::machines(machines_each);
    set_rate(of_one, request_.whole_machines ? chosen->gpus : each);
    if (request_.most_vcpus && chosen->vcpus) cost_.most = of_one * std::floor(*request_.most_vcpus / *chosen->vcpus);
    return true;
  }

  bool by_gpu() {
    std::vector<const Gpu*> candidates = gpus();
    bool assumed = false;
    if (candidates.empty() && request_.gpus.empty() && !request_.mig_profile.empty()) candidates = gpus_with_slice();
    if (candidates.empty() && !request_.hint.empty()) {
      candidates = gpus_by_hint();
      if (!candidates.empty()) {
        cost_.doubts.push_back(fmt::format("the GPU is inferred from the partition name {}", request_.hint));
      }
    }
    if (candidates.empty() && request_.machines.empty() && assumptions_.gpu != nullptr) {
      candidates = {assumptions_.gpu};
      assumed = true;
    }
    std::optional<market::GpuQuote> best = cheapest_of(usual_of(candidates));
    if (!best) best = cheapest_of(candidates);
    if (!best) {
      if (!candidates.empty() && !provider_.empty()) {
        cost_.doubts.push_back(fmt::format("no {}price of {} at {} on file", request_.spot ? "spot " : "",
                                           candidates.front()->name, provider_));
      }
      return false;
    }
    cost_.source = best->source();
    if (assumed) cost_.doubts.push_back(fmt::format("the file does not name the GPU; {} assumed", cost_.gpu->name));
    if (candidates.size() > 1) {
      cost_.doubts.push_back(request_.gpus.size() == 1
                                 ? fmt::format("assuming '{}' means {}", request_.gpus.front(), cost_.gpu->name)
                                 : fmt::format("several GPUs can serve it; priced as {}", cost_.gpu->name));
    }
    if (request_.per_unit && best->offer && best->offer->machine->gpus < *request_.per_unit) {
      cost_.doubts.push_back(fmt::format("no machine with {:.0f} x {} has a price: priced on smaller ones",
                                         *request_.per_unit, cost_.gpu->name));
    }
    if (!check_slice()) return true;
    if (request_.per_unit)
      set_rate(best->rate * rightsize::gpus(*request_.per_unit * slice_share_), *request_.per_unit);
    return true;
  }

  // The GPU that each name usually means ("h100": h100-sxm), as in every command.
  std::vector<const Gpu*> usual_of(const std::vector<const Gpu*>& candidates) const {
    std::vector<const Gpu*> usual;
    for (const std::string& name : request_.gpus) {
      const auto found = catalog::usual_gpu(book_.catalog(), name);
      if (found && std::ranges::find(candidates, found->gpu) != candidates.end()) usual.push_back(found->gpu);
      if (request_.ordered && !usual.empty()) break;
    }
    return usual.empty() ? candidates : usual;
  }

  // On machines that hold the GPUs of a pod or node; on smaller ones only where those have no price. A pod stays on its
  // platform, so another provider's price is no substitute.
  std::optional<market::GpuQuote> quote_of(const Gpu& gpu) const {
    market::OfferFilter filter;
    filter.purchases = {purchase()};
    if (!provider_.empty()) filter.providers = {provider_};
    if (request_.region.empty()) filter.regions = assumptions_.regions;
    std::optional<market::GpuQuote> any = book_.gpu(gpu, filter);
    if (!any && !std::exchange(filter.regions, {}).empty()) any = book_.gpu(gpu, filter);
    if (!any || any->is_own() || !request_.per_unit) return any;
    std::set<int> sizes;
    for (const Machine& machine : book_.catalog().machines) {
      if (machine.gpu == gpu.name && machine.gpus >= *request_.per_unit) sizes.insert(machine.gpus);
    }
    std::optional<market::GpuQuote> best;
    for (const int size : sizes) {
      filter.machine_gpus = size;
      const std::optional<market::GpuQuote> quote = book_.gpu(gpu, filter);
      if (quote && (!best || quote->rate < best->rate)) best = quote;
    }
    return best ? best : any;
  }

  std::optional<market::GpuQuote> cheapest_of(const std::vector<const Gpu*>& candidates) {
    std::optional<market::GpuQuote> best;
    for (const Gpu* gpu : candidates) {
      const std::optional<market::GpuQuote> quote = quote_of(*gpu);
      if (!quote || (best && quote->rate >= best->rate)) continue;
      best = quote;
      cost_.gpu = gpu;
    }
    return best;
  }

  // "gpu_h100", "a100-long": a part of the name that is a GPU's.
  std::vector<const Gpu*> gpus_by_hint() const {
    std::string words = request_.hint;
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c == '_' || c == '-' || c == ','; }, ' ');
    for (std::string_view word : split_list(words, ' ')) {
      // Words such as "gpu" or "long" are not GPUs; a GPU's name has a digit. "gpuv100" is a V100.
      if (word.starts_with("gpu")) word.remove_prefix(3);
      if (word.find_first_of("0123456789") == std::string_view::npos) continue;
      if (const auto found = catalog::usual_gpu(book_.catalog(), word)) return {found->gpu};
    }
    return {};
  }

  std::vector<const Gpu*> gpus_with_slice() const {
    std::vector<const Gpu*> found;
    for (const catalog::MigProfile& profile : book_.catalog().mig) {
      if (profile.profile != request_.mig_profile) continue;
      if (const Result<const Gpu*> gpu = book_.catalog().find_gpu(profile.gpu)) found.push_back(*gpu);
    }
    return found;
  }

  // A slice costs the GPU's price divided by the number of slices that fit.
  bool check_slice() {
    if (request_.mig_profile.empty() || cost_.gpu == nullptr) return true;
    for (const catalog::MigProfile& profile : book_.catalog().mig) {
      if (profile.gpu != cost_.gpu->name || profile.profile != request_.mig_profile || profile.instances == 0) continue;
      slice_share_ = 1.0 / profile.instances;
      cost_.doubts.push_back(
          fmt::format("MIG slice {} priced as 1/{} of {}", profile.profile, profile.instances, profile.gpu));
      return true;
    }
    cost_.misfits.push_back(fmt::format("{} has no MIG profile {}", cost_.gpu->name, request_.mig_profile));
    return false;
  }

  void set_rate(UsdPerSecond of_one, double gpus_each) {
    if (!request_.units) return;
    cost_.rate = of_one * *request_.units;
    cost_.gpus = gpus_each * slice_share_ * *request_.units;
    if (request_.most_units && *request_.most_units > *request_.units) cost_.most = of_one * *request_.most_units;
  }

  void over_time() {
    if (!cost_.rate) return;
    cost_.monthly = cost_.rate;
    if (request_.ceiling) {
      // Workloads within the limit are counted with their own requests.
      if (request_.per_unit) cost_.most = cost_.rate;  // otherwise it has no limit on GPUs
      cost_.monthly = UsdPerSecond{};
    }
    if (!request_.job) return;
    if (request_.time_limit) cost_.run = *cost_.rate * *request_.time_limit;
    if (assumptions_.job_time) {
      cost_.monthly = *cost_.rate * (*assumptions_.job_time / kMonth);
    } else {
      cost_.all_month_assumed = true;
    }
  }

  void explain_unpriced() {
    if (!request_.machines.empty()) {
      cost_.doubts.push_back(fmt::format("no price on file for {}", request_.machines.front()));
    } else if (!request_.gpus.empty()) {
      cost_.doubts.push_back(fmt::format("no GPU '{}' with a price in the catalogue", request_.gpus.front()));
    } else if (request_.unresolved.empty()) {
      cost_.doubts.emplace_back("the file does not name the GPU; pass --gpu");
    }
  }

  const GpuRequest& request_;
  const market::PriceBook& book_;
  const PriceAssumptions& assumptions_;
  const std::string& provider_;       // of GPUs without a machine type
  std::vector<std::string> regions_;  // "": any
  Cost cost_;
  double slice_share_ = 1;
};

}  // namespace

Cost price_of(const GpuRequest& request, const market::PriceBook& book, const PriceAssumptions& assumptions) {
  return Pricing(request, book, assumptions).price();
}

}  // namespace rightsize::manifests
