// How long a batch takes: from a measured table, or from another implementation of BatchTime.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/sim_time.h"

namespace rightsize::sim {

// Median and 90th percentile of the time one batch occupies an executor. Equal if the spread is unknown.
struct BatchSeconds {
  Seconds p50;
  Seconds p90;
};

// Called once per batch size, never in the hot loop, so an implementation may be slow (the speed model's is). Sizes
// start at 1; times are positive and finite.
class BatchTime {
 public:
  virtual ~BatchTime() = default;
  virtual BatchSeconds time_of(int batch) const = 0;
  virtual int largest_batch() const = 0;  // no times are known beyond it
};

// A measured table. Between listed sizes the time is interpolated; with `pad`, a batch runs as the next listed size (as
// with captured graphs or compiled profiles). Below the smallest listed size, its time is used.
class TableTime : public BatchTime {
 public:
  struct Row {
    int batch = 0;
    BatchSeconds time;
  };
  // Rows in ascending order of batch, at least one.
  TableTime(std::vector<Row> rows, bool pad) : rows_(std::move(rows)), pad_(pad) {}

  BatchSeconds time_of(int batch) const override;
  int largest_batch() const override { return rows_.back().batch; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
  bool pad_;
};

// Reads a service table: `batch,ms_p50[,ms_p90]`, or the output of Triton's perf_analyzer with `-f FILE.csv`, in
// microseconds. perf_analyzer does not write the batch size: add a `Batch` column (the value of -b) to join several
// runs; without it, rows are of batch 1. The time is the server's compute time (input, inference and output). If the
// rows have several concurrencies, N requests in flight are a batch of N: it takes N over the measured rate, and a
// simulation adds the wait for the batch before it, so latencies are not below the measured ones. Other columns are
// ignored. Unusable rows are reported with their place: a batch that is
// not a whole number from 1 to 65536, a time that is not positive, a p90 below its p50, a size listed twice, an empty
// table.
struct ServiceTable {
  std::vector<TableTime::Row> rows = {};
  std::vector<std::string> notes = {};  // how the file was read
};
Checked<ServiceTable> parse_service_table(const std::string& file, std::string text);

// Times of 1..max_batch in nanoseconds for the hot loop; `scale` is the mean of the exponential spread. The
// distribution is a shifted exponential with the given median and 90th percentile, skewed to the right like measured
// times. Its mean is (1 - ln 2) scale above the median.
struct ServiceTimes {
  std::vector<SimTime> shortest;  // index is the batch size; [0] is unused
  std::vector<double> scale;

  int max_batch() const { return static_cast<int>(shortest.size()) - 1; }
  double mean(int batch) const {
    return static_cast<double>(shortest[static_cast<std::size_t>(batch)]) + scale[static_cast<std::size_t>(batch)];
  }
  // Throughput of an executor with batches of this size.
  RequestsPerSecond rate(int batch) const { return requests_per_s(batch * 1e9 / mean(batch)); }
};

// `overhead` is added to every batch: the server's own work around the measured call.
ServiceTimes tabulate(const BatchTime& time, int max_batch, Seconds overhead = Seconds{});

}  // namespace rightsize::sim
