// data/efficiency.csv and data/stacks.csv as text, with constants that can be changed one at a time and written back.
//
// A constant is a cell: stacks/vllm/decode_matmul is the value of that row, efficiency/h200-sxm/matmul-bf16/rate the
// column `rate` of that row. Numbers keep their unit. This code does not depend on the meaning of a constant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/perf.h"

namespace rightsize::fit {

struct ConstantName {
  bool kernel = false;     // in efficiency.csv, otherwise in stacks.csv
  std::string owner, row;  // GPU and kernel, or stack and constant
  std::string column = "value";

  std::string text() const;
};

class ConstantTable {
 public:
  // The two files of `folder`.
  static Checked<ConstantTable> read(const std::string& folder);

  std::optional<double> get(const ConstantName& name) const;
  void set(const ConstantName& name, double value);
  void set_how(const ConstantName& name, const std::string& how);
  // GPUs with a row for this kernel, in the order of the file.
  std::vector<std::string> gpus_with(const std::string& kernel) const;
  void remove_gpu(const std::string& gpu);

  // The constants of the whole table; or those of `base` with only the rows of these constants taken from this table.
  Checked<perf::Constants> constants() const;
  Checked<perf::Constants> constants(const perf::Constants& base, const std::vector<ConstantName>& changed) const;

  Result<> write(const std::string& folder) const;

 private:
  struct Sheet {
    std::string comments;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;

    std::string text(const std::vector<std::size_t>* only = nullptr) const;
    std::optional<std::size_t> find(const std::string& owner, const std::string& row) const;
    std::size_t column(const std::string& name) const;
  };
  static Checked<Sheet> read_sheet(const std::string& path);
  std::string* cell(const ConstantName& name, const std::string& column);

  Sheet efficiency_, stacks_;
};

}  // namespace rightsize::fit
