// Small models on shared GPUs: finds the way to share that meets every latency limit at the lowest cost.
//
//   std::vector<Group> candidates = propose(demand);        // GPUs with the models on each, for every mechanism
//   Result<SharingPlan> plan = cheapest(candidates, n);     // each model in one of them
//
// The latency of a model (`evaluate`): its service time, delayed by neighbours that are busy at the same time
// (interference.h), by its own queue, and by wake-ups. Neighbours are busy independently of each other. Every part of
// this estimate errs towards longer times: interference never makes a model faster.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "sharing/interference.h"

namespace rightsize::sharing {

// One replica of a small model on one kind of GPU.
struct Tenant {
  Bytes memory;                    // while it runs
  Bytes weights;                   // moved by a wake-up or start
  double busy = 0;                 // share of the time in which it would keep the GPU busy if alone
  double headroom = 0;             // kept free above that
  std::optional<Seconds> service;  // one request, alone; empty: service time and latency are unknown
  double rate = 0;                 // requests per second; 0: unknown
  std::optional<Seconds> limit;    // on latency, at `percentile`
  double percentile = 0.95;
  std::string kind;  // interference.h; empty: unknown
  std::string base;  // the model its adapter is for; empty: not an adapter
  Bytes adapter;     // its size
  int apart = -1;    // tenants with the same number are on different GPUs
  bool fits = true;  // this kind of GPU can run it

  auto operator<=>(const Tenant&) const = default;
};

struct SharedGpu {
  Bytes memory;
  double usd_per_hour = 0;
  BytesPerSecond host_link;  // between host memory and the GPU; 0: unknown
};

// The service that a tenant gets.
struct Served {
  double busy = 0;             // share of the time it is busy, delays included
  std::optional<Seconds> p95;  // latency; empty without a service time
  bool meets = true;           // its limit
  double wakes = 0;            // share of requests that wait for a wake-up or start
};

// A GPU and its tenants.
struct Group {
  Mechanism how = Mechanism::kOwnGpu;
  std::size_t gpu = 0;  // which kind
  std::vector<std::size_t> tenants;
  std::vector<Served> served;  // of each
  double up = 1;               // share of the time for which the GPU is paid
  Seconds idle = {};           // scale to zero: stops after this long without a request
  double usd_per_hour = 0;
};

// Latency on `share` of a GPU without neighbours, such as a MIG slice or a dedicated GPU.
Served alone(const Tenant& tenant, double share = 1);

// The tenants together on one GPU; empty if they do not fit or one of them misses its limit. Not for kMig.
std::optional<Group> evaluate(Mechanism how, const std::vector<const Tenant*>& tenants, const SharedGpu& gpu);

// The same replicas on several kinds of GPU: tenants[gpu][replica].
struct Demand {
  std::vector<SharedGpu> gpus;
  std::vector<std::vector<Tenant>> tenants;
  std::vector<int> together;  // by replica: those with the same number are on one GPU; -1: anywhere

  std::size_t count() const { return together.size(); }
};

// GPUs of one mechanism that hold every replica, packed in one of several orders. Empty if one fits no GPU.
std::vector<Group> pack(const Demand& demand, Mechanism how, std::size_t gpu, bool by_memory);
// The groups of pack() for every mechanism except MIG, and each replica alone on its cheapest GPU.
std::vector<Group> propose(const Demand& demand);

struct SharingPlan {
  std::vector<Group> groups;
  std::vector<std::size_t> unplaced;  // replicas that no candidate holds
  double usd_per_hour = 0;
};

// The candidates that hold every replica at the lowest cost: exact unless there are very many.
Result<SharingPlan> cheapest(const std::vector<Group>& candidates, std::size_t count);

}  // namespace rightsize::sharing
