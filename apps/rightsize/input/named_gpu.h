// Finds the GPU that a user named.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::app {

// Prints "note: ..." on standard error.
void note(const std::string& text);
// Suppresses notes while it exists: a command is being tried out.
class QuietNotes {
 public:
  QuietNotes();
  ~QuietNotes();
  QuietNotes(const QuietNotes&) = delete;
  QuietNotes& operator=(const QuietNotes&) = delete;
};

// The frameworks and engines that we model run on CUDA and ROCm. For other chips (TPU, Inferentia, Gaudi), memory and
// speed come from the data sheet, and no plan uses them.
bool runs_modelled_software(const catalog::Gpu& gpu);

// The GPUs of a replica in "4xh100", which becomes "h100"; nothing if the text has no number.
std::optional<int> take_replica_gpus(std::string& gpu);

// One GPU of the catalogue. A family ("h100") means its most common member, and a note names it. The number in "8xh100"
// is not used, and a note says so.
Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text);

}  // namespace rightsize::app
