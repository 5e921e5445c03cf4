// jobstats' summary of a job in Slurm's AdminComment: base64 of gzip of JSON.
#include <charconv>

#include "base/byte_source.h"
#include "base/json_reader.h"
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

}  // namespace

std::optional<std::string> unpack_jobstats(std::string_view comment) {
  if (!comment.starts_with("JS1:")) return std::nullopt;
  const std::optional<std::string> packed = decode_base64(trim(comment.substr(4)));
  if (!packed || !packed->starts_with("\x1f\x8b")) return std::nullopt;
  const Result<std::unique_ptr<ByteSource>> source = uncompress("AdminComment", bytes_of(*packed));
  Result<std::string> text = source ? read_all(**source, kLargestComment) : fail(source.error());
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

// {"nodes": {"host": {"gpu_utilization": {"0": 95.2}, "gpu_used_memory": {...}, "gpu_total_memory": {...}}}}
std::vector<JobGpu> gpus_of_jobstats(const std::string& json) {
  std::vector<JobGpu> gpus;
  Checked<LocatedJson> parsed = LocatedJson::parse("AdminComment", json);
  if (!parsed) return gpus;
  const JsonMember* nodes = parsed->root().find("nodes");
  if (nodes == nullptr) return gpus;
  for (const JsonMember& node : nodes->value.members) {
    const JsonValue* busy = value_at(node.value, "gpu_utilization");
    if (busy == nullptr) continue;
    for (const JsonMember& member : busy->members) {
      JobGpu gpu{.host = node.name};
      std::from_chars(member.name.data(), member.name.data() + member.name.size(), gpu.index);
      const auto number = [&](const char* table) {
        return number_at(node.value, std::string(table) + "." + member.name);
      };
      if (const auto share = number("gpu_utilization")) gpu.utilization = Ratio::percent(*share);
      if (const auto used = number("gpu_used_memory")) gpu.used = bytes(*used);
      if (const auto total = number("gpu_total_memory")) gpu.total = bytes(*total);
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

}  // namespace rightsize::telemetry
