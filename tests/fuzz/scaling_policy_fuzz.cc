// Any bytes as a scaling policy and as the stages of a start-up: what is accepted can be printed and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "autoscale/policy.h"
#include "autoscale/startup.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)autoscale::parse_startup(text);
  const Result<autoscale::Policy> policy = autoscale::parse_policy(text);
  if (!policy) {
    if (policy.error().message.empty()) std::abort();
    return 0;
  }
  const Result<autoscale::Policy> again = autoscale::parse_policy(autoscale::describe(*policy));
  if (!again || autoscale::describe(*again) != autoscale::describe(*policy)) std::abort();
  return 0;
}
