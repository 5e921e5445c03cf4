// A file of one tool with a wish: a number of GPUs each, a number of copies, a machine.
#pragma once

#include <string>

#include <rapidcheck.h>

namespace rightsize::manifests {

// The request of one version.
struct Wish {
  int gpus, copies;
  std::string machine;  // of AWS

  bool operator==(const Wish&) const = default;
};

inline Wish some_wish() {
  return {*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 30),
          *rc::gen::element<std::string>("p5.48xlarge", "g5.12xlarge", "p4d.24xlarge", "g6.xlarge")};
}

struct Form {
  const char* file;
  std::string (*text)(const Wish& wish);
  double (*gpus)(const Wish& wish);  // null: any number, but the change must be reported; machines count as one
};

inline double pods(const Wish& w) { return static_cast<double>(w.gpus) * w.copies; }
inline double nodes(const Wish& w) { return w.copies; }
inline double gpus_alone(const Wish& w) { return w.gpus; }

}  // namespace rightsize::manifests
