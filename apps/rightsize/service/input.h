// The flags of `rightsize service`, and the input they describe.
#pragma once

#include <string>
#include <vector>

#include "launch/hand_over.h"
#include "live_service/description.h"
#include "live_service/read_server.h"
#include "live_service/right_size.h"
#include "rightsize/decisions/input.h"
#include "rightsize/input/electricity.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct ServiceFlags : ServerFlags {
  std::vector<std::string> from, models, providers, regions, gpus, precisions, purchases, emit;
  PriceFlag prices;
  LedgerFlags ledger;
  std::string slo, slo_percentile = "95", gpu, name, other_model, catalog;
  int gpus_per_replica = 0, top = 10;
  std::optional<Seconds> uptime, step;
  std::optional<RequestsPerSecond> rate;
  ElectricityFlags electricity;
  double traffic = 1, longer_prompts = 1, longer_answers = 1;
  bool plans_only = false;
};

// A model given by the user, for one service or for all services with an unknown model name.
struct NamedModel {
  std::string service;  // empty: all
  std::string model;
};

struct ServiceInput {
  std::vector<std::string> from;   // files; empty: read the server
  live_service::SinceStart since;  // of engines that do not publish their start
  live_service::ServerSource server;
  std::vector<NamedModel> models;
  live_service::KnownGpus known;
  live_service::SizeOptions size;
  std::string other_model;  // the model to plan for; empty: the served model
  std::string only;         // only services with this in their name
  std::vector<std::string> emit;
  Electricity electricity;
  LedgerFlags ledger;  // empty: predictions are not compared
};

void declare(FlagSet& command, ServiceFlags& flags);
Checked<ServiceInput> read_input(const ServiceFlags& flags, const catalog::Catalog& catalog);

}  // namespace rightsize::app
