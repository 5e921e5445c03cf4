// Any bytes as a layout, as running instances, as a mig-parted file, and as the driver's list of profiles.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "mig/current.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const mig::Geometry kGeometry = *mig::Geometry::of(kCatalog, **kCatalog.find_gpu("h100-sxm"));
  const std::string text(reinterpret_cast<const char*>(data), size);

  const Checked<mig::Layout> layout = mig::parse_layout(text, kGeometry);
  if (!layout && describe(layout.error()).empty()) std::abort();
  if (layout && layout->empty()) std::abort();

  const Checked<mig::RunningGpus> fleet = mig::read_current("fuzz.txt", text, kGeometry);
  if (!fleet && describe(fleet.error()).empty()) std::abort();
  if (fleet) {
    for (const mig::RunningGpu& gpu : *fleet) {  // instances that were read must not overlap
      mig::Layout placed;
      for (const mig::Instance& instance : gpu.layout()) {
        if (!kGeometry.may_join(placed, instance)) std::abort();
        placed.push_back(instance);
      }
    }
  }
  const Checked<std::vector<mig::ListedProfile>> listed = mig::read_profile_list("fuzz.txt", text);
  if (!listed && describe(listed.error()).empty()) std::abort();
  if (listed) (void)mig::differences(*listed, kGeometry);
  const auto parted = mig::read_mig_parted("fuzz.yaml", text, kGeometry);
  if (!parted && describe(parted.error()).empty()) std::abort();
  for (std::size_t i = 0; parted && i < parted->size(); ++i) (void)kGeometry.place((*parted)[i].layout);
  return 0;
}
