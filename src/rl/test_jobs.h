// Facts and estimates for the tests of this module.
#pragma once

#include <map>
#include <string>

#include "catalog/catalog.h"
#include "presets/presets.h"
#include "rl/rl.h"

namespace rightsize::rl {

inline const perf::Constants& test_constants() {
  static const perf::Constants kConstants = *perf::load_constants("");
  return kConstants;
}
inline const catalog::Gpu& test_gpu(const std::string& name) {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return **kCatalog.find_gpu(name);
}
struct TestModel {
  model::ModelShape shape;
  perf::ModelWork work;
};
inline const TestModel& test_model(const std::string& name) {
  static std::map<std::string, TestModel> kept;
  if (!kept.contains(name)) {
    model::ModelShape shape = *model::find_model(name);
    perf::ModelWork work = perf::work_of(shape);
    kept[name] = {std::move(shape), std::move(work)};
  }
  return kept[name];
}

inline Result<RlEstimate> estimate_for(const std::string& model, const std::string& gpu, const RlJob& job) {
  const TestModel& m = test_model(model);
  const Pool pool = pool_of(test_constants(), test_gpu(gpu));
  return estimate_step({test_constants(), m.shape, m.work}, job, pool, pool, constants_of(job.framework));
}

}  // namespace rightsize::rl
