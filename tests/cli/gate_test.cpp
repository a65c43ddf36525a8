// gate as scripts see it, on the CPU. What is red or green on a busy machine is the machine's
// business; wrong results, refusals and the shape of what is written are not.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/case/errors.h"
#include "src/cli/child.h"
#include "src/cli/gate_binaries.h"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

class GateCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("b.json", R"({"name": "b", "model": {"num_heads": 1, "head_dim": 64},
                               "tokens": [3, 5], "measure": {"max_time_s": 0.01}})");
  }
  ProcessResult gate(std::vector<std::string> args) {
    args.insert(args.begin(), {"gate", "-c", "b", "-d", "cpu", "--rounds", "2"});
    ProcessOptions options;
    options.folder = folder_.path();
    return rope_bench(args, options);
  }
  // A program that says the same as another run of ours did, but for one thing.
  void fake_binary(const std::string& name, const std::function<void(Json*)>& change) {
    ProcessOptions options;
    options.folder = folder_.path();
    Json results =
        Json::parse(rope_bench({"run", "-c", "b", "-d", "cpu", "-q", "-o", "json"}, options).out);
    for (Json& row : results.at("results")) {
      row["limit_family_version"] = 99;  // so that time is judged, which is set here
      for (const char* key : {"time_median_us", "time_ci_low_us", "time_ci_high_us"})
        row[key] = 1e6;
    }
    change(&results);
    folder_.write(name + ".out", results.dump());
    folder_.write(name, "#!/bin/sh\nexec cat " + folder_.file(name + ".out") + "\n");
    chmod(folder_.file(name).c_str(), 0755);
  }

  ScratchFolder folder_;
};

TEST_F(GateCommand, ComparesVariantsInOneProcess) {
  const ProcessResult result = gate({"--base-variant", "naive", "-o", "json"});
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 4)
      << result.err;
  EXPECT_TRUE(result.err.find("gate: ") != std::string::npos) << result.err;
  const Json report = Json::parse(result.out);
  ASSERT_EQ(report.at("cases").size(), 2u);
  for (const Json& row : report.at("cases")) {
    EXPECT_GT(row.at("base_time_us").get<double>(), 0) << row;
    EXPECT_EQ(row.at("num_rounds"), row.at("rerun").is_null() ? 2 : 4) << row;
  }
  // One that this op does not have on a CPU.
  const ProcessResult none = gate({"--base-variant", "unfused"});
  EXPECT_EQ(none.exit_code, 5) << none.err;
  EXPECT_NE(none.out.find("no variant unfused"), std::string::npos) << none.out;
}

TEST_F(GateCommand, ComparesBinariesRunByRun) {
  // A base whose every launch takes a second: ours is faster, without any noise to speak of.
  fake_binary("slow", [](Json*) {});
  const ProcessResult faster = gate({"--base", folder_.file("slow"), "-o", "json"});
  EXPECT_EQ(faster.exit_code, 0) << faster.err;
  EXPECT_EQ(Json::parse(faster.out).at("counts").at("improvement"), 2);
  const Json faster_report = Json::parse(faster.out);
  for (const Json& row : faster_report.at("cases")) {
    EXPECT_EQ(row.at("num_rounds"), 2) << row;
    EXPECT_NEAR(row.at("base_time_us").get<double>(), 1e6, 1e-3) << row;
  }
}

TEST_F(GateCommand, RefusesWhatCannotBeCompared) {
  EXPECT_EQ(gate({}).exit_code, 2);
  EXPECT_EQ(gate({"--base", "x", "--base-variant", "naive"}).exit_code, 2);
  for (const std::string rounds : {"-2", "0", "1", "10001", "99999999999999999999", "x"}) {
    const ProcessResult result = rope_bench(
        {"gate", "-c", "smoke", "-d", "cpu", "--base-variant", "naive", "--rounds", rounds});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err,
              "rope-bench: --rounds: " + rounds +
                  " is not a whole number from 2 to 10000 (see rope-bench gate --help)\n");
  }
  const ProcessResult missing = gate({"--base", "/no/such/program"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("cannot run /no/such/program"), std::string::npos) << missing.err;
  folder_.write("before", "#!/bin/sh\n");  // not in PATH
  EXPECT_NE(gate({"--base", "before"}).err.find("did you mean ./before?"), std::string::npos);
  const ProcessResult silent = gate({"--base", "/bin/true"});
  EXPECT_EQ(silent.exit_code, 2);
  EXPECT_NE(silent.err.find("/bin/true wrote no results"), std::string::npos) << silent.err;
  for (const char* garbage : {"exec yes", "echo garbage; exec sleep 100"}) {
    folder_.write("noise", std::string("#!/bin/sh\n") + garbage + "\n");
    std::filesystem::permissions(folder_.file("noise"), std::filesystem::perms::owner_all);
    const ProcessResult noise = gate({"--base", folder_.file("noise")});
    EXPECT_EQ(noise.exit_code, 2);
    EXPECT_NE(noise.err.find("printed no results in JSON"), std::string::npos) << noise.err;
  }
  const ProcessResult unknown = gate({"--base-variant", "nave"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean naive?"), std::string::npos) << unknown.err;
  fake_binary("other", [](Json* results) { (*results)["results"][1]["bytes_total"] = 1; });
  const ProcessResult other = gate({"--base", folder_.file("other")});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("bytes_total: \"1\" in BASE"), std::string::npos) << other.err;
}

TEST_F(GateCommand, PlantedSlowdownsAreMarkedAndChecked) {
  ProcessOptions options;
  options.folder = folder_.path();
  const ProcessResult slowed = rope_bench(
      {"run", "-c", "b", "-d", "cpu", "-q", "-o", "json", "--inject-slowdown", "25%"}, options);
  EXPECT_EQ(slowed.exit_code, 0) << slowed.err;
  const Json slowed_report = Json::parse(slowed.out);
  for (const Json& row : slowed_report.at("results")) {
    EXPECT_EQ(row.at("status"), "passed");  // timed launches are judged as ever
    EXPECT_NE(row.at("labels").dump().find("\"slowed\""), std::string::npos) << row.at("labels");
    EXPECT_EQ(row.at("injected_slowdown_percent"), 25);
  }
  const ProcessResult plain =
      rope_bench({"run", "-c", "b", "-d", "cpu", "-q", "-o", "json"}, options);
  const Json plain_report = Json::parse(plain.out);
  for (const Json& row : plain_report.at("results"))
    EXPECT_TRUE(row.at("injected_slowdown_percent").is_null());
  for (const char* share : {"0%", "26%", "-5", "x"}) {
    const ProcessResult bad = rope_bench({"run", "-c", "b", "--inject-slowdown", share}, options);
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_EQ(bad.err,
              "rope-bench: --inject-slowdown " + std::string(share) + ": allowed: 1% to 25%\n");
  }
  EXPECT_EQ(
      rope_bench({"run", "-c", "b", "--inject-slowdown", "5%", "--no-measure"}, options).exit_code,
      2);
}

// Writes the id of a process that it started to `id`, then does not end.
constexpr const char* kStuck = "#!/bin/sh\nsleep 1000 & echo $! >id.new; mv id.new id; wait\n";

// Also true of what nobody has waited for yet.
bool is_gone(const std::string& id) {
  std::string state;
  std::getline(std::ifstream("/proc/" + std::to_string(std::stoi(id)) + "/stat"), state);
  return state.empty() || state.find(") Z ") != std::string::npos;
}

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

TEST_F(GateCommand, AChildThatDoesNotEndIsStopped) {
  folder_.write("stuck", "#!/bin/sh\ncd " + folder_.path() + "\n" + kStuck);
  folder_.write("closed", "#!/bin/sh\necho '{}'; exec sleep 1000 >&-\n");
  folder_.write("slow", "#!/bin/sh\necho '{'; exec sleep 1000\n");
  for (const char* name : {"stuck", "closed", "slow"}) {
    chmod(folder_.file(name).c_str(), 0755);
    const std::string program = folder_.file(name);
    try {
      run_child(program, {}, 0.5);
      ADD_FAILURE() << name;
    } catch (const NoAnswer& error) {
      EXPECT_EQ(error.what(), program +
                                  " gave no results within 0.5 s and was stopped; raise "
                                  "measure.timeout_s if it needs longer");
    }
  }
  ASSERT_TRUE(soon([&] { return std::filesystem::exists(folder_.file("id")); }));
  EXPECT_TRUE(soon([&] { return is_gone(folder_.read("id")); }));
}

TEST(MostSeconds, FollowFromTheCases) {
  RopeCase c;
  EXPECT_EQ(most_seconds_of({c}), 60 + 60 + 2 * 2);
  c.measure.timeout_s = 5;
  c.measure.max_time_s = 0.5;
  EXPECT_EQ(most_seconds_of({c, c}), 60 + 2 * (5 + 2 * 0.5));
  c.measure.cache = {CacheMode::kCold, CacheMode::kWarm};
  EXPECT_EQ(most_seconds_of({c}), 60 + 2 * (5 + 2 * 0.5));
  c.measure.min_time_ms = 3000;
  EXPECT_EQ(most_seconds_of({c}), 60 + 2 * (5 + 2 * 3));
}

TEST_F(GateCommand, AnInterruptStopsTheChildAtOnce) {
  folder_.write("stuck", kStuck);
  chmod(folder_.file("stuck").c_str(), 0755);
  ProcessOptions options;
  options.folder = folder_.path();
  RunningProcess running({"gate", "-c", "b", "-d", "cpu", "--base", "./stuck"}, options);
  ASSERT_TRUE(soon([&] { return std::filesystem::exists(folder_.file("id")); }));
  running.signal(SIGINT);
  const ProcessResult result = running.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.err, "rope-bench: interrupted: no verdict\n");
  EXPECT_LT(result.seconds, 25);
  EXPECT_TRUE(soon([&] { return is_gone(folder_.read("id")); }));
}

TEST(FilterOf, QuotesWhatAnExpressionWouldRead) {
  EXPECT_EQ(filter_of({"a/b.c", "d(1)|e"}), "^(a/b\\.c|d\\(1\\)\\|e)$");
}

// Two sessions are few: whether a case is quiet enough for margins is this machine's affair.
TEST_F(GateCommand, CalibrateWritesMarginsOfQuietCasesAlone) {
  ProcessOptions options;
  options.folder = folder_.path();
  const ProcessResult calibrated =
      rope_bench({"calibrate", "-c", "b", "-d", "cpu", "--sessions", "2", "--rounds", "2",
                  "--margin", "7%", "--floor", "0", "-w", "margins.json", "-o", "json"},
                 options);
  const Json report = Json::parse(calibrated.out);
  ASSERT_EQ(report.at("cases").size(), 2u);
  size_t quiet = 0, with_margins = 0;  // quiet enough for both margins, for either
  for (const Json& row : report.at("cases")) {
    // Null: far beyond anything that a gate is for.
    const auto percent = [&](const char* key) {
      return row.at(key).is_null() ? 1e6 : row.at(key).get<double>();
    };
    EXPECT_GE(percent("gate_margin_percent"), 7 - 1e-9) << row;
    EXPECT_GT(percent("compare_smallest_percent"), 7) << row;
    const bool gate = percent("gate_margin_percent") < 100;
    const bool compare = percent("compare_margin_percent") < 100;
    quiet += gate && compare ? 1 : 0;
    with_margins += gate || compare ? 1 : 0;
  }
  EXPECT_EQ(calibrated.exit_code, quiet == 2 ? 0 : 4) << calibrated.err;
  EXPECT_NE(calibrated.err.find("calibrate: " + std::to_string(quiet) + " of 2 cases"),
            std::string::npos)
      << calibrated.err;
  EXPECT_EQ(std::filesystem::exists(folder_.file("margins.json")), with_margins > 0);
  if (with_margins > 0) {
    EXPECT_EQ(Json::parse(folder_.read("margins.json")).at("cases").size(), with_margins);
  }
}

TEST_F(GateCommand, TakesMargins) {
  const Json env = Json::parse(rope_bench({"env", "-d", "cpu", "-o", "json"}).out);
  const ProcessResult plain = gate({"--base-variant", "naive", "-o", "json", "--exit-zero"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  Json cases = Json::array();
  const Json plain_report = Json::parse(plain.out);
  for (const Json& row : plain_report.at("cases")) {
    cases.push_back({{"name", row.at("name")},
                     {"variant", row.at("variant")},
                     {"dtype", row.at("dtype")},
                     {"cache", row.at("cache")},
                     {"compare_margin_percent", 30},
                     {"gate_margin_percent", 40}});
  }
  const Json margins = {
      {"margins_version", 1}, {"device_model", env.at("env").at("model")}, {"cases", cases}};
  folder_.write("margins.json", margins.dump());
  const ProcessResult gated = gate({"--base-variant", "naive", "--margins", "margins.json",
                                    "--floor", "0", "-o", "json", "--exit-zero"});
  ASSERT_EQ(gated.exit_code, 0) << gated.err;
  const Json judged = Json::parse(gated.out).at("cases");
  ASSERT_EQ(judged.size(), 2u);
  for (const Json& row : judged) EXPECT_NEAR(row.at("margin_percent").get<double>(), 40, 1e-9);
}

}  // namespace
}  // namespace rope_bench
