#include "rightsize/fleet/input.h"

#include <gmock/gmock.h>

#include "catalog/test_catalog.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

FleetFlags from_file() {
  FleetFlags flags;
  flags.from = {"gpus.csv"};
  return flags;
}

std::string error_of(const FleetFlags& flags) {
  const Checked<FleetRequest> request = read_request(flags, built_in_catalog());
  return request ? "" : describe(request.error());
}

TEST(FleetInput, OneSourceOfTelemetryIsRequired) {
  FleetFlags flags;
  EXPECT_THAT(error_of(flags), HasSubstr("no source"));
  flags = from_file();
  flags.prometheus = "http://prometheus:9090";
  EXPECT_THAT(error_of(flags), HasSubstr("use either --from or --prometheus"));
}

TEST(FleetInput, WithoutAnEndFilesAreUsedCompletely) {
  FleetFlags flags = from_file();
  EXPECT_FALSE(read_request(flags, built_in_catalog())->cut());
  flags.end = "2026-11-08T00:00:00Z";
  flags.window = days(1);
  const std::optional<fleet::TimeSpan> cut = read_request(flags, built_in_catalog())->cut();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->length(), days(1));
  EXPECT_EQ(in_unix_seconds(cut->until), 1794096000);
}

Checked<FleetRequest> request_of(FleetFlags& flags, FlagSet& command, const std::vector<std::string>& words) {
  add_fleet_flags(command, flags);
  EXPECT_TRUE(command.parse(words));
  return read_request(flags, built_in_catalog());
}

// Server flags would have no effect on files, so they are refused.
TEST(FleetInput, FlagsOfAServerAreRefusedForFiles) {
  FleetFlags declared;
  FlagSet all;
  add_fleet_flags(all, declared);
  int checked = 0;
  for (const FlagInfo& flag : all.declared()) {
    if (flag.group != "Metrics server" || flag.name == "--prometheus") continue;
    FleetFlags flags;
    FlagSet command;
    const std::string& example = std::string(flag.setting->example.empty() ? "x" : flag.setting->example);
    std::vector<std::string> words = {"--from", "a.csv", flag.name};
    if (!flag.values.empty()) words.push_back(flag.name == "--header" ? "a: b" : example);
    const Checked<FleetRequest> request = request_of(flags, command, words);
    ASSERT_FALSE(request) << flag.name;
    EXPECT_THAT(describe(request.error()), HasSubstr(flag.name + " applies to a metrics server only"));
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

TEST(FleetInput, UserIsTheLoginOfAServerAndAFilterOfJobs) {
  FleetFlags files, server;
  FlagSet one, other;
  EXPECT_EQ(request_of(files, one, {"--from", "jobs.txt", "--user", "ann"})->only.users,
            std::vector<std::string>{"ann"});
  const Checked<FleetRequest> login = request_of(server, other, {"--prometheus", "http://p:9090", "--user", "ann"});
  EXPECT_EQ(login->server.auth.user, "ann");
  EXPECT_TRUE(login->only.empty());
}

TEST(FleetInput, DaysAreAWindow) {
  FleetFlags flags;
  FlagSet command;
  const Checked<FleetRequest> request =
      request_of(flags, command, {"--from", "jobs.txt", "--since", "2026-11-01", "--until", "2026-11-02"});
  EXPECT_EQ(request->cut()->length(), days(2)) << "the last day counts";
  FleetFlags wrong;
  FlagSet again;
  EXPECT_FALSE(request_of(wrong, again, {"--from", "jobs.txt", "--since", "2026-11-03", "--until", "2026-11-01"}));
}

TEST(FleetInput, ThresholdsAreSharesOrPercent) {
  FleetFlags flags;
  FlagSet command;
  add_fleet_flags(command, flags);
  ASSERT_TRUE(command.parse({"--from", "gpus.csv", "--idle-below", "2%", "--target", "0.7", "--held-above", "2GiB"}));
  const fleet::Thresholds t = read_request(flags, built_in_catalog())->thresholds;
  EXPECT_DOUBLE_EQ(t.idle.active_above, 0.02);
  EXPECT_DOUBLE_EQ(t.target_activity, 0.7);
  EXPECT_EQ(t.idle.held_above, gib(2));
}

TEST(FleetInput, TheModuleDefinesTheDefaultThresholds) {
  FleetFlags flags;
  FlagSet command;
  add_fleet_flags(command, flags);
  const fleet::Thresholds set = flags.thresholds, expected;
  EXPECT_EQ(std::tuple(set.idle.active_above, set.idle.held_above, set.target_activity, set.memory_headroom),
            std::tuple(expected.idle.active_above, expected.idle.held_above, expected.target_activity,
                       expected.memory_headroom));
  EXPECT_EQ(std::tuple(set.sharing_headroom, set.stop_idle_share, set.park_after, set.min_age, set.most_overload),
            std::tuple(expected.sharing_headroom, expected.stop_idle_share, expected.park_after, expected.min_age,
                       expected.most_overload));
}

TEST(FleetInput, EveryWrongThresholdIsReported) {
  FleetFlags flags;
  FlagSet command;
  add_fleet_flags(command, flags);
  const auto parsed = command.parse({"--idle-below", "200%", "--sharing", "x", "--park-after", "soon"});
  ASSERT_FALSE(parsed);
  EXPECT_THAT(describe(parsed.error()),
              testing::AllOf(HasSubstr("--idle-below"), HasSubstr("--sharing"), HasSubstr("soon")));
}

TEST(FleetInput, UnknownProvidersGetASuggestion) {
  FleetFlags flags = from_file();
  flags.providers = {"awz"};
  EXPECT_THAT(error_of(flags), testing::AllOf(HasSubstr("provider 'awz'"), HasSubstr("aws")));
}

TEST(FleetInput, WindowsAreAtLeastTenMinutes) {
  FleetFlags flags = from_file();
  flags.window = seconds(300);
  EXPECT_THAT(error_of(flags), HasSubstr("at least 10min"));
}

TEST(FleetInput, LimitsForPipelinesAreSharesOrDollars) {
  const Limit waste = *parse_limit("waste>30%");
  EXPECT_TRUE(waste.is_share);
  EXPECT_DOUBLE_EQ(waste.most, 0.3);
  const Limit dollars = *parse_limit("waste_usd > 5000");
  EXPECT_FALSE(dollars.is_share);
  EXPECT_DOUBLE_EQ(dollars.most, 5000);
  EXPECT_FALSE(parse_limit("waste"));
  EXPECT_THAT(describe(parse_limit("wast>1").error()), HasSubstr("did you mean 'waste'"));
}

}  // namespace
}  // namespace rightsize::app
