#include "fleet/price.h"

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

// The cheapest offer of each kind that costs less than today's GPU (any, if its price is unknown), cheapest first.
std::vector<Replacement> cheaper_than(const DevicePrices& book, const GpuPrice& now) {
  std::vector<Replacement> found;
  for (const KindOffers& kind : book.offers_instead_of(now, 8)) {
    const std::optional<Replacement> offer = kind.cheapest(1);
    if (offer && (!now.rate || offer->rate < *now.rate)) found.push_back(*offer);
  }
  std::ranges::stable_sort(found, {}, &Replacement::rate);
  return found;
}

TEST(Prices, PricesAreGivenByMachineAssumedOrUnknown) {
  const DevicePrices book(facts(), *market::parse_own_prices({"h200=5", "p5.48xlarge=44USD/h", "a100=2"}, facts()));
  const GpuPrice h200 = book.price({.name = "NVIDIA H200"});
  EXPECT_EQ(h200.basis, PriceBasis::kGiven);
  EXPECT_NEAR(in_usd(*h200.cost(hours(1))), 5, 1e-9);
  const GpuPrice p5 = book.price({.name = "NVIDIA H100 80GB HBM3", .labels = {{"instance_type", "p5.48xlarge"}}});
  EXPECT_NEAR(in_usd(*p5.cost(hours(1))), 44.0 / 8, 1e-9);
  const GpuPrice g6 =
      book.price({.labels = {{"node_kubernetes_io_instance_type", "g6.xlarge"}, {"region", "us-east-1"}}});
  EXPECT_EQ(g6.basis, PriceBasis::kMachine);
  EXPECT_EQ(g6.gpu->name, "l4");
  // Slurm only reports "a100", and all its variants have the same price.
  const GpuPrice family = book.price({.name = "a100"});
  EXPECT_EQ(family.basis, PriceBasis::kGiven);
  EXPECT_NEAR(in_usd(*family.cost(hours(1))), 2, 1e-9);
  const GpuPrice t4 = book.price({.name = "Tesla T4"});
  EXPECT_EQ(t4.basis, PriceBasis::kAssumed);
  EXPECT_FALSE(book.price({.name = "Voodoo 2"}).rate);
}

// However the labels name the provider, its own prices apply, and alternatives are its own.
TEST(Prices, GpusArePricedAtTheProviderInTheirLabels) {
  const DevicePrices book(facts(), {});
  const char* gpu = "NVIDIA H100 80GB HBM3";
  const telemetry::Device devices[] = {{.name = gpu, .labels = {{"label_cloud_google_com_gke_nodepool", "gpu"}}},
                                       {.name = gpu, .labels = {{"cloud_google_com_gke_accelerator", "h100"}}},
                                       {.name = gpu, .labels = {{"cloud_provider", "Google"}}},
                                       {.name = gpu, .host = "gke-prod-gpu-1a2b3c4d-x1y2"}};
  for (const telemetry::Device& device : devices) {
    const GpuPrice price = book.price(device);
    EXPECT_EQ(price.provider, "gcp");
    for (const Replacement& other : cheaper_than(book, price)) EXPECT_EQ(other.machine->provider, "gcp");
  }
  EXPECT_EQ(book.price({.name = gpu, .labels = {{"eks_amazonaws_com_nodegroup", "gpu"}}}).provider, "aws");
  EXPECT_EQ(book.price({.name = gpu, .host = "aks-gpu-12345678-vmss000000"}).provider, "azure");
  EXPECT_EQ(book.price({.name = gpu, .host = "node1"}).basis, PriceBasis::kAssumed);
}

TEST(Prices, MigInstancesTakeTheirShare) {
  auto share = [](const char* profile) {
    Device device{.name = "NVIDIA H100 80GB HBM3", .mig_profile = profile, .mig_id = "1"};
    return mig_share(device, *facts().find_gpu("h100-sxm"), facts());
  };
  EXPECT_NEAR(share("1g.10gb"), 1.0 / 7, 1e-9);  // 1 of 7 compute, 1 of 8 memory
  EXPECT_NEAR(share("1g.20gb"), 2.0 / 8, 1e-9);  // 1 of 7 compute, 2 of 8 memory
  EXPECT_NEAR(share("3g.40gb"), 4.0 / 8, 1e-9);
  EXPECT_NEAR(share("7g.80gb"), 1, 1e-9);
}

// gres/gpu:a100 is a family: priced by --price a100.
TEST(Prices, SlurmGpuTypesArePricedByFamily) {
  const DevicePrices book(facts(), *market::parse_own_prices({"a100=1.9", "h100=3.1"}, facts()));
  EXPECT_NEAR(in_usd(*book.price({.name = "a100"}).cost(hours(1))), 1.9, 1e-9);
  EXPECT_NEAR(in_usd(*book.price({.name = "h100"}).cost(hours(1))), 3.1, 1e-9);
  EXPECT_FALSE(book.price({.name = "b200"}).basis == PriceBasis::kGiven);
  // If members of the family have different prices, the price is unknown.
  const DevicePrices mixed(facts(), *market::parse_own_prices({"a100=1.9", "a100-80gb-sxm=2.2"}, facts()));
  EXPECT_NE(mixed.price({.name = "a100"}).basis, PriceBasis::kGiven);
}

// The first part of every catalogue name, as schedulers have it: the price of one member, never advice about it. A
// vendor or an architecture has no price.
TEST(Prices, EveryFamilyHasThePriceOfOneMember) {
  const DevicePrices book(facts(), {});
  std::size_t families = 0;
  for (const catalog::Gpu& gpu : facts().gpus) {
    const std::string family = gpu.name.substr(0, gpu.name.find('-'));
    if (facts().find_gpu(family) || family == "rtx") continue;
    const GpuPrice price = book.price({.name = family});
    EXPECT_EQ(price.gpu, nullptr) << family;
    if (!price.rate) continue;
    ++families;
    EXPECT_EQ(price.basis, PriceBasis::kAssumed) << family;
    EXPECT_EQ(price.source.find("'" + family + "' as " + family + "-"), 0u) << price.source;
    EXPECT_TRUE(book.offers_instead_of(price, 8).empty());
  }
  EXPECT_GT(families, 2u);
  EXPECT_TRUE(book.price({.name = "h100"}).rate);
  EXPECT_LT(book.price({.name = "h100", .mig_profile = "1g.10gb", .mig_id = "1"}).share, 0.2);
  for (const char* vague : {"nvidia", "amd", "hopper", "gpu", ""})
    EXPECT_FALSE(book.price({.name = vague}).rate) << vague;
}

TEST(Prices, AlternativesAreRealOffersOfTheSameProvider) {
  const DevicePrices book(facts(), *market::parse_own_prices({"h100-sxm=2.5"}, facts()));
  const GpuPrice own = book.price({.name = "NVIDIA H100 80GB HBM3"});
  for (const Replacement& other : cheaper_than(book, own)) {
    ASSERT_NE(other.machine, nullptr);
    EXPECT_LT(in_usd_per_gpu_hour(other.rate), 2.5) << other.source;
    EXPECT_FALSE(other.machine->instance.ends_with("_COMMUNITY")) << other.source;
    EXPECT_TRUE(other.moves_provider);
  }
  const DevicePrices list(facts(), {});
  const GpuPrice at_aws = list.price({.labels = {{"instance_type", "p4d.24xlarge"}, {"region", "us-east-1"}}});
  const std::vector<Replacement> of_aws = cheaper_than(list, at_aws);
  ASSERT_FALSE(of_aws.empty());
  for (const Replacement& other : of_aws) EXPECT_EQ(other.machine->provider, "aws");
  // Cheapest first.
  for (std::size_t i = 1; i < of_aws.size(); ++i) EXPECT_LE(of_aws[i - 1].rate, of_aws[i].rate);
}

TEST(Prices, AlternativesUseOwnPricesAndNamedProviders) {
  const DevicePrices book(facts(), *market::parse_own_prices({"h100-sxm=2.5", "l4=0.3"}, facts()),
                          {.providers = {"gcp"}});
  bool seen = false;
  for (const Replacement& other : cheaper_than(book, book.price({.name = "h100-sxm"}))) {
    if (other.gpu->name == "l4") {
      seen = true;
      EXPECT_EQ(other.machine, nullptr);
      EXPECT_NEAR(in_usd_per_gpu_hour(other.rate), 0.3, 1e-9);
    } else {
      EXPECT_EQ(other.machine->provider, "gcp");
    }
  }
  EXPECT_TRUE(seen);
}

// For every GPU of the catalogue, no alternative and no commitment is a peer-hosted machine.
TEST(Prices, NoAlternativeIsPeerHosted) {
  const DevicePrices list(facts(), {});
  std::size_t seen = 0;
  for (const catalog::Machine& machine : facts().machines) {
    const GpuPrice price = list.price({.labels = {{"instance_type", machine.instance}}});
    for (const Replacement& other : cheaper_than(list, price)) {
      ++seen;
      ASSERT_TRUE(other.machine == nullptr || !other.machine->community) << other.machine->instance;
    }
  }
  EXPECT_GT(seen, 100u);
}

// A machine in a zone has the price of the zone's region; any other price is an assumption.
TEST(Prices, AZoneIsPricedInItsOwnRegion) {
  const DevicePrices list(facts(), {});
  int own = 0;
  for (const catalog::Machine& machine : facts().machines) {
    for (const auto& [zone, region] : {std::pair("us-central1-a", "us-central1"), {"us-east-1a", "us-east-1"}}) {
      for (const char* terms : {"spot", "on-demand"}) {
        const GpuPrice price =
            list.price({.labels = {{"instance_type", machine.instance}, {"zone", zone}, {"capacity_type", terms}}});
        if (price.basis != PriceBasis::kMachine) continue;
        EXPECT_TRUE(price.region == region || price.region == "any") << machine.instance << " " << price.source;
        own += price.region == region ? 1 : 0;
      }
    }
  }
  EXPECT_GT(own, 50);
}

// The price of an assumed offer does not show where the GPU is.
TEST(Prices, AnAssumedPriceHasNoProvider) {
  const DevicePrices list(facts(), {});
  const GpuPrice assumed = list.price({.name = "h100-sxm"});
  ASSERT_EQ(assumed.basis, PriceBasis::kAssumed);
  for (const Replacement& other : cheaper_than(list, assumed)) EXPECT_TRUE(other.moves_provider) << other.source;
}

// A commitment is an offer for this GPU in dollars, never the discount of one provider on the price of another.
TEST(Prices, CommitmentsAreOffersInDollars) {
  const DevicePrices own(facts(), *market::parse_own_prices({"h100-sxm=2.5"}, facts()));
  EXPECT_FALSE(own.commitment_for(own.price({.name = "h100-sxm"})));  // its provider is unknown
  const DevicePrices named(facts(), *market::parse_own_prices({"h100-sxm=2.5"}, facts()), {.providers = {"gcp"}});
  EXPECT_FALSE(named.commitment_for(named.price({.name = "h100-sxm"})));  // gcp charges $7.67
  const DevicePrices expensive(facts(), *market::parse_own_prices({"h100-sxm=11"}, facts()), {.providers = {"gcp"}});
  const std::optional<Replacement> offer = expensive.commitment_for(expensive.price({.name = "h100-sxm"}));
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->machine->provider, "gcp");
  EXPECT_LT(in_usd_per_gpu_hour(offer->rate), 11);
  const DevicePrices list(facts(), {});
  const GpuPrice machine = list.price({.labels = {{"instance_type", "a3-highgpu-8g"}, {"region", "us-central1"}}});
  const std::optional<Replacement> same = list.commitment_for(machine);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->machine, machine.machine);
  EXPECT_LT(same->rate, *machine.rate);
  const GpuPrice spot = list.price({.labels = {{"instance_type", "a3-highgpu-8g"}, {"capacity_type", "spot"}}});
  EXPECT_FALSE(list.commitment_for(spot));
}

}  // namespace
}  // namespace rightsize::fleet
