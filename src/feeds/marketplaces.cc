// RunPod's gpuTypes and Vast's offers, as their services answer.
#include <unordered_map>

#include <fmt/format.h>

#include "feeds/readers.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;
using telemetry::JsonStream;

// The plain values of an object; what is nested is skipped, null is absent.
struct Values {
  std::unordered_map<std::string, std::string> text;
  std::unordered_map<std::string, double> number;

  std::optional<double> of(const char* name) const {
    const auto found = number.find(name);
    return found == number.end() ? std::nullopt : std::optional(found->second);
  }
};

void read_value(JsonStream& json, const std::string& name, Values& values) {
  const char next = json.peek();
  if (next == '"') {
    json.read_string(values.text[name]);
  } else if (next == '-' || (next >= '0' && next <= '9')) {
    if (const std::optional<double> number = json.read_number()) values.number[name] = *number;
  } else {
    if (next == 't') values.text[name] = "true";
    json.skip();
  }
}

// {id, displayName, memoryInGb, maxGpuCount, securePrice, communityPrice, secureSpotPrice, communitySpotPrice}; prices
// are of one GPU.
void read_gpu_type(JsonStream& json, FeedSink& sink) {
  Values type;
  std::string name;
  for (json.enter_object(); json.next_member(name);) read_value(json, name, type);
  const std::string gpu = type.text.contains("displayName") ? type.text["displayName"] : type.text["id"];
  if (gpu.empty()) return sink.pass();
  std::string spelled;  // "H100 SXM" is 1x_H100-SXM_SECURE
  for (const char c : gpu) spelled += c == ' ' ? '-' : c;
  const int most = static_cast<int>(type.of("maxGpuCount").value_or(1));
  struct Tier {
    const char* field;
    const char* cloud;
    Purchase purchase;
  };
  static constexpr Tier kTiers[] = {{"securePrice", "SECURE", Purchase::kOnDemand},
                                    {"secureSpotPrice", "SECURE", Purchase::kSpot},
                                    {"communityPrice", "COMMUNITY", Purchase::kOnDemand},
                                    {"communitySpotPrice", "COMMUNITY", Purchase::kSpot}};
  for (const Tier& tier : kTiers) {
    const std::optional<double> price = type.of(tier.field);
    if (!price || *price == 0) continue;  // not offered
    for (int count = 1; count <= std::min(most, 8); count *= 2) {
      FeedRow row;
      row.provider = "runpod";
      row.instance = fmt::format("{}x_{}_{}", count, spelled, tier.cloud);
      row.region = "any";
      row.purchase = tier.purchase;
      row.usd_per_hour = *price * count;
      row.gpu = gpu;
      row.gpus = count;
      row.gpu_memory_gib = type.of("memoryInGb");
      row.community = std::string_view(tier.cloud) == "COMMUNITY";
      if (count > 1) row.note = "one-GPU rate times the count";
      sink.take(std::move(row));
    }
  }
}

// Finds the array of that name however deep it is nested in objects, and reads its items.
template <class ReadItem>
bool read_items(JsonStream& json, std::string_view wanted, ReadItem read_item) {
  if (json.peek() == '[') {
    for (json.enter_array(); json.next_item();) read_item();
    return true;
  }
  bool found = false;
  std::string name;
  for (json.enter_object(); json.next_member(name);) {
    if (name == wanted && json.peek() == '[') {
      for (json.enter_array(); json.next_item();) read_item();
      found = true;
    } else if (json.peek() == '{') {
      found = read_items(json, wanted, read_item) || found;
    } else {
      json.skip();
    }
  }
  return found;
}

// One offer of a host: dph_total is dollars an hour of the whole offer, min_bid what a bid must reach.
void read_vast_offer(JsonStream& json, FeedSink& sink) {
  Values offer;
  std::string name;
  for (json.enter_object(); json.next_member(name);) read_value(json, name, offer);
  const std::string gpu = offer.text["gpu_name"];
  const std::optional<double> gpus = offer.of("num_gpus"), price = offer.of("dph_total");
  if (gpu.empty() || !gpus) return sink.pass();
  FeedRow row;
  row.provider = "vast";
  row.gpu = gpu;
  row.gpus = gpus;
  std::string spelled;
  for (const char c : gpu) spelled += c == ' ' ? '-' : c;
  row.instance = fmt::format("{:g}x_{}", *gpus, spelled);
  row.region = offer.text["geolocation"].empty() ? "any" : offer.text["geolocation"];
  row.vcpus = offer.of("cpu_cores_effective");
  if (const std::optional<double> memory = offer.of("cpu_ram")) row.memory_gib = *memory / 1024;
  if (const std::optional<double> memory = offer.of("gpu_ram")) row.gpu_memory_gib = *memory / 1024;
  row.community = true;
  if (!price) return sink.refuse("no price", row.instance, 0);
  row.usd_per_hour = *price;
  sink.take(row);
  const std::optional<double> bid = offer.of("min_bid");
  if (!bid || *bid == 0) return;
  row.purchase = Purchase::kSpot;
  row.usd_per_hour = *bid;
  sink.take(std::move(row));
}

}  // namespace

Result<> read_runpod(const Source& source, FeedSink& sink) {
  JsonStream json(source.bytes, source.file);
  const bool found = read_items(json, "gpuTypes", [&] { read_gpu_type(json, sink); });
  if (json.failed()) return fail(json.error());
  if (!found) return fail(bad_input(source.file + ": not RunPod's answer: no list gpuTypes"));
  return {};
}

Result<> read_vast(const Source& source, FeedSink& sink) {
  JsonStream json(source.bytes, source.file);
  const bool found = read_items(json, "offers", [&] { read_vast_offer(json, sink); });
  if (json.failed()) return fail(json.error());
  if (!found) return fail(bad_input(source.file + ": not Vast's answer: no list offers"));
  return {};
}

}  // namespace rightsize::feeds
