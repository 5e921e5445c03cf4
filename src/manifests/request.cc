#include "manifests/request.h"

#include <iterator>

namespace rightsize::manifests {

void append(Found more, Found& all) {
  std::move(more.requests.begin(), more.requests.end(), std::back_inserter(all.requests));
  std::move(more.notes.begin(), more.notes.end(), std::back_inserter(all.notes));
}

}  // namespace rightsize::manifests
