// Quantities with their unit in the type: a value enters and leaves only by naming its unit.
//
//   Bytes need = gib(14) + mib(512);
//   Seconds t = need / gb_per_s(2039);          // Bytes / BytesPerSecond is Seconds, anything else does not compile
//   double shown = in_milliseconds(t);
//
// Every dimension has one base unit (byte, flop, second, dollar, token, request, gpu, machine, joule), stored as a
// double. There is no hour type and no GiB type: the functions below convert. `gpu` and `machine` are dimensions, which
// keeps dollars per GPU-hour, per machine-hour and per hour of a whole cluster apart:
//
//   UsdPerMachineSecond box = usd_per_gpu_hour(2.49) * gpus_per_machine(8);
//   UsdPerSecond cluster = box * machines(4);            // box + cluster does not compile
//   Usd bill = cluster * kMonth;
//
// `token` and `request` are dimensions, which prevents comparing rates of different things. A quantity is eight bytes
// and trivially copyable, and the types cost nothing at run time. That, and compile time, is why this is not
// Boost.Units.
#pragma once

#include <compare>

namespace rightsize {

// Exponents of the base dimensions; Dimension{.byte = 1, .second = -1} is bytes per second.
struct Dimension {
  signed char byte = 0, flop = 0, second = 0, usd = 0, token = 0, request = 0, gpu = 0, machine = 0, joule = 0;

  constexpr bool operator==(const Dimension&) const = default;

  constexpr Dimension operator+(const Dimension& o) const { return combine(o, +1); }
  constexpr Dimension operator-(const Dimension& o) const { return combine(o, -1); }

 private:
  constexpr Dimension combine(const Dimension& o, int sign) const {
    auto add = [sign](signed char a, signed char b) { return static_cast<signed char>(a + sign * b); };
    return {add(byte, o.byte), add(flop, o.flop),       add(second, o.second),
            add(usd, o.usd),   add(token, o.token),     add(request, o.request),
            add(gpu, o.gpu),   add(machine, o.machine), add(joule, o.joule)};
  }
};

template <Dimension D>
class Quantity {
 public:
  constexpr Quantity() = default;

  // Only for the conversions in this header; all other code names a unit.
  static constexpr Quantity from_base(double value) {
    Quantity q;
    q.value_ = value;
    return q;
  }
  constexpr double in_base() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator-() const { return from_base(-value_); }
  constexpr Quantity operator+(Quantity o) const { return from_base(value_ + o.value_); }
  constexpr Quantity operator-(Quantity o) const { return from_base(value_ - o.value_); }
  constexpr Quantity& operator+=(Quantity o) { return *this = *this + o; }
  constexpr Quantity& operator-=(Quantity o) { return *this = *this - o; }
  constexpr Quantity operator*(double k) const { return from_base(value_ * k); }
  constexpr Quantity operator/(double k) const { return from_base(value_ / k); }
  friend constexpr Quantity operator*(double k, Quantity q) { return q * k; }

 private:
  double value_ = 0;
};

// A product or quotient without remaining dimensions is a plain number.
template <Dimension D>
constexpr auto make_quantity(double value) {
  if constexpr (D == Dimension{}) {
    return value;
  } else {
    return Quantity<D>::from_base(value);
  }
}
template <Dimension A, Dimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  return make_quantity<A + B>(a.in_base() * b.in_base());
}
template <Dimension A, Dimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  return make_quantity<A - B>(a.in_base() / b.in_base());
}
template <Dimension B>
constexpr auto operator/(double a, Quantity<B> b) {
  return make_quantity<Dimension{} - B>(a / b.in_base());
}

using Bytes = Quantity<Dimension{.byte = 1}>;
using Flops = Quantity<Dimension{.flop = 1}>;
using Seconds = Quantity<Dimension{.second = 1}>;
using Usd = Quantity<Dimension{.usd = 1}>;
using Tokens = Quantity<Dimension{.token = 1}>;
using Requests = Quantity<Dimension{.request = 1}>;
using Gpus = Quantity<Dimension{.gpu = 1}>;
using Machines = Quantity<Dimension{.machine = 1}>;
using GpusPerMachine = Quantity<Dimension{.gpu = 1, .machine = -1}>;
using Joules = Quantity<Dimension{.joule = 1}>;
using Watts = Quantity<Dimension{.second = -1, .joule = 1}>;
using BytesPerSecond = Quantity<Dimension{.byte = 1, .second = -1}>;
using FlopsPerSecond = Quantity<Dimension{.flop = 1, .second = -1}>;
using FlopsPerByte = Quantity<Dimension{.byte = -1, .flop = 1}>;
using TokensPerSecond = Quantity<Dimension{.second = -1, .token = 1}>;
using RequestsPerSecond = Quantity<Dimension{.second = -1, .request = 1}>;
using UsdPerGpuSecond = Quantity<Dimension{.second = -1, .usd = 1, .gpu = -1}>;          // the price of one GPU
using UsdPerMachineSecond = Quantity<Dimension{.second = -1, .usd = 1, .machine = -1}>;  // ... of one machine
using UsdPerSecond = Quantity<Dimension{.second = -1, .usd = 1}>;                        // ... of everything rented
using UsdPerToken = Quantity<Dimension{.usd = 1, .token = -1}>;

// From a number and its unit.
constexpr Bytes bytes(double v) { return Bytes::from_base(v); }
constexpr Bytes kib(double v) { return bytes(v * 1024.0); }
constexpr Bytes mib(double v) { return bytes(v * 1024.0 * 1024.0); }
constexpr Bytes gib(double v) { return bytes(v * 1024.0 * 1024.0 * 1024.0); }
constexpr Bytes gb(double v) { return bytes(v * 1e9); }
constexpr Flops flop(double v) { return Flops::from_base(v); }
constexpr Flops tflop(double v) { return flop(v * 1e12); }
constexpr Seconds seconds(double v) { return Seconds::from_base(v); }
constexpr Seconds milliseconds(double v) { return seconds(v * 1e-3); }
constexpr Seconds microseconds(double v) { return seconds(v * 1e-6); }
constexpr Seconds hours(double v) { return seconds(v * 3600.0); }
constexpr Seconds days(double v) { return hours(v * 24.0); }
// A year is 365 days and a month a twelfth of it, 730 hours, as in the clouds' price calculators. These are the only
// definitions in the program.
inline constexpr Seconds kYear = days(365);
inline constexpr Seconds kMonth = kYear / 12;
constexpr Usd usd(double v) { return Usd::from_base(v); }
constexpr Tokens tokens(double v) { return Tokens::from_base(v); }
constexpr Requests requests(double v) { return Requests::from_base(v); }
constexpr Gpus gpus(double v) { return Gpus::from_base(v); }
constexpr Machines machines(double v) { return Machines::from_base(v); }
constexpr GpusPerMachine gpus_per_machine(double v) { return GpusPerMachine::from_base(v); }
constexpr Watts watts(double v) { return Watts::from_base(v); }
constexpr BytesPerSecond bytes_per_s(double v) { return BytesPerSecond::from_base(v); }
constexpr BytesPerSecond gb_per_s(double v) { return bytes_per_s(v * 1e9); }
constexpr BytesPerSecond gbit_per_s(double v) { return bytes_per_s(v * 1e9 / 8.0); }
constexpr FlopsPerSecond flop_per_s(double v) { return FlopsPerSecond::from_base(v); }
constexpr FlopsPerSecond tflop_per_s(double v) { return flop_per_s(v * 1e12); }
constexpr TokensPerSecond tokens_per_s(double v) { return TokensPerSecond::from_base(v); }
constexpr RequestsPerSecond requests_per_s(double v) { return RequestsPerSecond::from_base(v); }
constexpr UsdPerSecond usd_per_hour(double v) { return UsdPerSecond::from_base(v / 3600.0); }
constexpr UsdPerMachineSecond usd_per_machine_hour(double v) { return UsdPerMachineSecond::from_base(v / 3600.0); }
constexpr UsdPerGpuSecond usd_per_gpu_hour(double v) { return UsdPerGpuSecond::from_base(v / 3600.0); }

// To a number in a unit.
constexpr double in_bytes(Bytes v) { return v.in_base(); }
constexpr double in_mib(Bytes v) { return v.in_base() / (1024.0 * 1024.0); }
constexpr double in_gib(Bytes v) { return v.in_base() / (1024.0 * 1024.0 * 1024.0); }
constexpr double in_flop(Flops v) { return v.in_base(); }
constexpr double in_seconds(Seconds v) { return v.in_base(); }
constexpr double in_milliseconds(Seconds v) { return v.in_base() * 1e3; }
constexpr double in_hours(Seconds v) { return v.in_base() / 3600.0; }
constexpr double in_days(Seconds v) { return in_hours(v) / 24.0; }
constexpr double in_usd(Usd v) { return v.in_base(); }
constexpr double in_tokens(Tokens v) { return v.in_base(); }
constexpr double in_requests(Requests v) { return v.in_base(); }
constexpr double in_gpus(Gpus v) { return v.in_base(); }
constexpr double in_machines(Machines v) { return v.in_base(); }
constexpr double in_watts(Watts v) { return v.in_base(); }
constexpr double in_bytes_per_s(BytesPerSecond v) { return v.in_base(); }
constexpr double in_gb_per_s(BytesPerSecond v) { return v.in_base() / 1e9; }
constexpr double in_gbit_per_s(BytesPerSecond v) { return v.in_base() * 8.0 / 1e9; }
constexpr double in_flop_per_s(FlopsPerSecond v) { return v.in_base(); }
constexpr double in_tflop_per_s(FlopsPerSecond v) { return v.in_base() / 1e12; }
constexpr double in_flop_per_byte(FlopsPerByte v) { return v.in_base(); }
constexpr double in_tokens_per_s(TokensPerSecond v) { return v.in_base(); }
constexpr double in_requests_per_s(RequestsPerSecond v) { return v.in_base(); }
constexpr double in_usd_per_hour(UsdPerSecond v) { return v.in_base() * 3600.0; }
constexpr double in_usd_per_machine_hour(UsdPerMachineSecond v) { return v.in_base() * 3600.0; }
constexpr double in_usd_per_gpu_hour(UsdPerGpuSecond v) { return v.in_base() * 3600.0; }

// A share of a whole. Telemetry mixes 0-1 and 0-100; this type makes the scale explicit.
class Ratio {
 public:
  constexpr Ratio() = default;
  static constexpr Ratio fraction(double v) { return Ratio(v); }
  static constexpr Ratio percent(double v) { return Ratio(v / 100.0); }
  constexpr double fraction() const { return value_; }
  constexpr double percent() const { return value_ * 100.0; }
  constexpr auto operator<=>(const Ratio&) const = default;

 private:
  explicit constexpr Ratio(double v) : value_(v) {}
  double value_ = 0;
};

}  // namespace rightsize
