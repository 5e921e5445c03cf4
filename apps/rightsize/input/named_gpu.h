// Finds the GPU that a user named.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::app {

// Prints "note: ..." on standard error.
void note(const std::string& text);
// Suppresses notes during its lifetime, while a command is only tried out.
class QuietNotes {
 public:
  QuietNotes();
  ~QuietNotes();
  QuietNotes(const QuietNotes&) = delete;
  QuietNotes& operator=(const QuietNotes&) = delete;
};

// Shows each note once during its lifetime: a command that is run for several values repeats its assumptions.
class NotesOnce {
 public:
  NotesOnce();
  ~NotesOnce();
  NotesOnce(const NotesOnce&) = delete;
  NotesOnce& operator=(const NotesOnce&) = delete;
};

// The frameworks and engines that we model run on CUDA and ROCm. For other chips (TPU, Inferentia, Gaudi), memory and
// speed come from the data sheet, and no plan uses them.
bool runs_modelled_software(const catalog::Gpu& gpu);

// Removes and returns the count in "4xh100"; empty if the text has no count.
std::optional<int> take_replica_gpus(std::string& gpu);

// One GPU of the catalogue. A family ("h100") means its most common member, and a note names it. The count in "8xh100"
// is ignored, with a note.
Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text);

}  // namespace rightsize::app
