// jobstats' summary of a job, as it stands in Slurm's AdminComment: base64 of gzip of JSON.
#include <array>
#include <charconv>

#include <zlib.h>

#include "base/located_json.h"
#include "base/text.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kLargestComment = 64U << 20;  // unpacked

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    if (c == '=') break;
    const std::size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<char>(bits >> have & 0xFF));
    }
  }
  return out;
}

std::optional<std::string> gunzip(const std::string& packed) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;
  std::string out;
  std::array<char, 16384> piece;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int state = Z_OK;
  while (state == Z_OK && out.size() < kLargestComment) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return out;
}

std::optional<double> number_at(const JsonValue& node, const char* table, const std::string& index) {
  const JsonMember* member = node.find(table);
  const JsonMember* value = member != nullptr ? member->value.find(index) : nullptr;
  if (value == nullptr || value->value.type != JsonType::kNumber) return std::nullopt;
  return value->value.number;
}

}  // namespace

std::optional<std::string> unpack_jobstats(std::string_view comment) {
  if (!comment.starts_with("JS1:")) return std::nullopt;
  const std::optional<std::string> packed = decode_base64(trim(comment.substr(4)));
  return packed ? gunzip(*packed) : std::nullopt;
}

// {"nodes": {"host": {"gpu_utilization": {"0": 95.2}, "gpu_used_memory": {...}, "gpu_total_memory": {...}}}}
std::vector<JobGpu> gpus_of_jobstats(const std::string& json) {
  std::vector<JobGpu> gpus;
  Checked<LocatedJson> parsed = LocatedJson::parse("AdminComment", json);
  if (!parsed) return gpus;
  const JsonMember* nodes = parsed->root().find("nodes");
  if (nodes == nullptr) return gpus;
  for (const JsonMember& node : nodes->value.members) {
    const JsonMember* busy = node.value.find("gpu_utilization");
    if (busy == nullptr) continue;
    for (const JsonMember& member : busy->value.members) {
      JobGpu gpu{.host = node.name};
      std::from_chars(member.name.data(), member.name.data() + member.name.size(), gpu.index);
      if (const auto share = number_at(node.value, "gpu_utilization", member.name))
        gpu.utilization = Ratio::percent(*share);
      if (const auto used = number_at(node.value, "gpu_used_memory", member.name)) gpu.used = bytes(*used);
      if (const auto total = number_at(node.value, "gpu_total_memory", member.name)) gpu.total = bytes(*total);
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

}  // namespace rightsize::telemetry
