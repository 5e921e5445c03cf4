// The numbers of an estimate as an instance of its class, without a document between.
#pragma once

#include "object.h"
#include "rightsize/estimate/report.h"
#include "values.h"

namespace rightsize::python {

class Fields final : public app::Members {
 public:
  explicit Fields(const ResultType& type) : type_(type), fields_(PyDict_New()) {}
  void add(std::string_view name, Value value) override;
  Object take() { return instance_of(type_, fields_); }

 private:
  const ResultType& type_;
  Object fields_;
  std::size_t at_ = 0;
};

}  // namespace rightsize::python
