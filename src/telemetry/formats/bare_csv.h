// The columns of an nvidia-smi log without a header (--format=csv,noheader), found from the first rows.
#pragma once

#include <string>
#include <string_view>

namespace rightsize::telemetry {

struct BareHeader {
  std::string names = {};  // as nvidia-smi would write the header; empty: unknown
  bool guessed = false;    // from the numbers alone, without units
  bool unclear = false;    // the rows are nvidia-smi's, but their numbers allow several answers
};

// By units: "18 %" is the utilization, then that of the memory; "21504 MiB" is the memory in use, then all of it.
// Without units (nounits) by the numbers: whole numbers up to 100 are the two utilizations, unless the first of them
// may be a temperature; a constant large number next to a smaller one is the memory of the GPU next to the memory in
// use.
BareHeader inferred_header(std::string_view rows);

}  // namespace rightsize::telemetry
