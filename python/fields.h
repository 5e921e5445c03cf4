// The numbers of an estimate as an instance of its Python class, without a JSON document in between.
#pragma once

#include "object.h"
#include "rightsize/estimate/report.h"
#include "values.h"

namespace rightsize::python {

class Fields final : public report::FieldReader {
 public:
  explicit Fields(const ResultType& type) : type_(type), fields_(PyDict_New()) {}
  void add(std::string_view name, const report::FieldValue& value) override;
  Object take() { return instance_of(type_, fields_); }

 private:
  const ResultType& type_;
  Object fields_;
  std::size_t at_ = 0;
};

}  // namespace rightsize::python
