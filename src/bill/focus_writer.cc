#include "bill/focus_writer.h"

#include <chrono>
#include <cmath>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/csv.h"
#include "bill/budget.h"

namespace rightsize::bill {
namespace {

std::string moment(double seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(std::floor(seconds)))));
}

std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) made += c;
  }
  return made;
}

std::string tags_of(const Allocation& row) {
  std::string tags;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) tags += fmt::format("{}\"{}\":\"{}\"", tags.empty() ? "" : ",", name, escaped(value));
  };
  add("team", row.team);
  add("workload", row.workload);
  add("user", row.user);
  return "{" + tags + "}";
}

constexpr const char* kHeader =
    "AllocatedMethodId,AllocatedResourceId,AllocatedResourceName,AllocatedTags,BilledCost,BillingAccountId,"
    "BillingAccountName,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargeClass,"
    "ChargeDescription,"
    "ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ContractedCost,EffectiveCost,"
    "HostProviderName,InvoiceIssuerName,ListCost,PricingCategory,PricingQuantity,PricingUnit,ProviderName,"
    "PublisherName,RegionId,ResourceId,ResourceName,"
    "ResourceType,ServiceCategory,ServiceName,ServiceProviderName,ServiceSubcategory,SkuPriceDetails,Tags\n";

}  // namespace

std::string write_focus(const std::vector<Allocation>& rows, double begin, double end) {
  const Month month = month_of(static_cast<int>(std::floor(begin / 86400)));
  const Month last = month_of(static_cast<int>(std::floor(end / 86400)));
  const std::string period_begin = moment(month.first * 86400.0),
                    period_end = moment((last.first + last.days) * 86400.0);
  std::string text = kHeader;
  for (const Allocation& row : rows) {
    const std::string cost = row.cost.text(), hours = fmt::format("{:.6f}", row.gpu_hours);
    const std::string provider = row.provider.empty() ? "rightsize" : row.provider;
    const std::string owner = row.team + (row.team.empty() || row.workload.empty() ? "" : "/") + row.workload;
    const std::string cells[] = {
        "gpu-time",
        owner.empty() ? row.user : owner,
        owner.empty() ? row.user : owner,
        tags_of(row),
        cost,
        "gpu-fleet",
        "GPU fleet",
        "USD",
        period_end,
        period_begin,
        "Usage",
        "",
        fmt::format("{} GPU time", row.gpu),
        "Usage-Based",
        moment(end),
        moment(begin),
        hours,
        "GPU-Hours",
        cost,
        cost,
        provider,
        provider,
        cost,
        "Standard",
        hours,
        "GPU-Hours",
        provider,
        provider,
        row.region,
        row.gpu_id,
        row.host,
        "GPU",
        "Compute",
        "GPU fleet",
        provider,
        "Virtual Machines",
        row.machine.empty() ? "" : fmt::format("{{\"InstanceType\":\"{}\"}}", escaped(row.machine)),
        tags_of(row)};
    bool first = true;
    for (const std::string& cell : cells) {
      if (!first) text += ',';
      first = false;
      text += csv_cell(cell);
    }
    text += '\n';
  }
  return text;
}

}  // namespace rightsize::bill
