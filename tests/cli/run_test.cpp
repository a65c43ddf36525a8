// `run` end to end on the CPU: exit codes, who writes what to stdout, stderr and files.
#include <algorithm>
#include <csignal>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;
using Args = std::vector<std::string>;

// Checks two small cases and measures nothing.
Args small_run(const Args& more = {}) {
  Args args = {"-c", "llama7b", "-d", "cpu", "--no-measure", "-a", "tokens=1,8"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

std::string last_line(const std::string& text) {
  const size_t end = text.size() - 1;
  return text.substr(text.rfind('\n', end - 1) + 1);
}

TEST(Run, TableAndVerdictOnStdout) {
  const ProcessResult result = rope_bench(small_run());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "colour although not on a terminal";
  EXPECT_TRUE(last_line(result.out).starts_with("2 cases: 2 passed, worst ")) << result.out;
  EXPECT_NE(result.out.find("(cpu, "), std::string::npos);
}

TEST(Run, IsTheDefaultCommand) {
  Args args = small_run();
  args.insert(args.begin(), "run");
  EXPECT_EQ(rope_bench(args).out, rope_bench(small_run()).out);
}

TEST(Run, ClaimedStdoutHoldsTheFormatAlone) {
  const ProcessResult result = rope_bench(small_run({"-o", "json"}));
  EXPECT_EQ(result.exit_code, 0);
  const Json document = Json::parse(result.out);
  EXPECT_EQ(document.at("schema_version"), 1);
  ASSERT_EQ(document.at("results").size(), 2u);
  EXPECT_EQ(document.at("results")[0].at("status"), "passed");
  EXPECT_TRUE(document.at("results")[0].at("time_median_us").is_null());
  EXPECT_EQ(document.at("config").at("name"), "llama7b");
  EXPECT_TRUE(last_line(result.err).starts_with("2 cases: 2 passed"));
}

// C188: 0, 1, 255 to 257, 4095, 4096, 65535, 65536, the last one and, with as many rows, a million.
TEST(Run, TheBoundaryConfigPasses) {
  const ProcessResult result = rope_bench({"-c", "boundary", "-d", "cpu", "--no-measure", "-k",
                                           "dtypes|million|sequences", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json rows = Json::parse(result.out).at("results");
  EXPECT_EQ(rows.size(), 9u);
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("status"), "passed");
    EXPECT_EQ(row.at("positions"), "boundary");
  }
}

// What a row has beyond its columns.
TEST(Run, VerboseAndJsonCarryDetails) {
  const ProcessResult text = rope_bench(small_run({"-v"}));
  for (const char* part :
       {"compared: all 8 tokens in double, exact angles", "worst elements:\n    tensor  token",
        "norms_kept         held, ", "positions_add      held, "})
    EXPECT_NE(text.err.find(part), std::string::npos) << part << "\n" << text.err;
  EXPECT_NE(text.err.find("positions_add      not applicable: position 0 is the only one in use"),
            std::string::npos);

  const Json rows = Json::parse(rope_bench(small_run({"-o", "json"})).out).at("results");
  const Json& row = rows.at(1);  // 8 tokens of 32 and 32 heads of 128
  EXPECT_EQ(row.at("num_compared"), 8 * 64 * 128);
  int64_t counted = 0;
  for (const Json& count : row.at("ulp_histogram").at("count")) counted += count.get<int64_t>();
  EXPECT_EQ(counted, 8 * 64 * 128);
  EXPECT_EQ(row.at("worst_elements").size(), 10u);
  EXPECT_EQ(row.at("worst_elements")[0], row.at("worst"));
  EXPECT_GT(row.at("correctly_rounded_share"), 0.99);  // one rounding to bf16
  EXPECT_EQ(row.at("checked"), "all");
  EXPECT_EQ(row.at("invariants").size(), 6u);
}

TEST(Run, QuietLeavesErrorsAndResults) {
  const ProcessResult result = rope_bench(small_run({"-o", "csv:-", "-q"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3);
  EXPECT_EQ(rope_bench(small_run({"-q", "-o", "nope"})).exit_code, 2);
}

TEST(Run, WritesFilesBesideTheTable) {
  ScratchFolder folder;
  folder.write("out.csv", "old");
  ProcessOptions options;
  options.folder = folder.path();
  const ProcessResult result = rope_bench(
      small_run({"-o", "csv:out.csv", "-o", "json:out.json", "-o", "jsonl:out.jsonl"}), options);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(last_line(result.out).starts_with("2 cases: 2 passed"));
  EXPECT_TRUE(folder.read("out.csv").starts_with("name,op,variant,device,dtype,cache,status,"));
  EXPECT_EQ(Json::parse(folder.read("out.json")).at("results").size(), 2u);
  std::istringstream lines(folder.read("out.jsonl"));
  std::string line;
  size_t count = 0;
  while (std::getline(lines, line)) count += Json::parse(line).at("status") == "passed";
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(folder.num_files(), 3u) << "a temporary file was left";
}

TEST(Run, ARefusedRunLeavesOldFiles) {
  ScratchFolder folder;
  folder.write("out.csv", "old");
  const std::string csv = "csv:" + folder.file("out.csv");
  EXPECT_EQ(rope_bench(small_run({"-o", csv, "--set", "rope.theta=-1"})).exit_code, 2);
  EXPECT_EQ(rope_bench(small_run({"-o", csv, "-o", "json:" + folder.path()})).exit_code, 2);
  EXPECT_EQ(rope_bench(small_run({"-o", csv, "-k", "nothing"})).exit_code, 5);
  EXPECT_EQ(folder.read("out.csv"), "old");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Run, NothingMatchedOrRanIsExitCode5) {
  const ProcessResult none = rope_bench(small_run({"-k", "nothing"}));
  EXPECT_EQ(none.exit_code, 5);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("--filter 'nothing'"), std::string::npos);
  const ProcessResult unsupported = rope_bench(small_run({"--set", "variant=per_head"}));
  EXPECT_EQ(unsupported.exit_code, 5);
  EXPECT_NE(unsupported.out.find("2 unsupported"), std::string::npos) << unsupported.out;
}

TEST(Run, FilterByFullNameSelectsOne) {
  const Json all = Json::parse(rope_bench(small_run({"-n", "-o", "json"})).out).at("cases");
  ASSERT_EQ(all.size(), 2u);
  const Json one =
      Json::parse(rope_bench(small_run({"-n", "-o", "json", "-k", all[1].at("name")})).out);
  ASSERT_EQ(one.at("cases").size(), 1u);
  EXPECT_EQ(one.at("cases")[0].at("name"), all[1].at("name"));
}

TEST(Run, ShardsPartitionTheCases) {
  const auto names = [](const Args& more) {
    std::set<std::string> found;
    Args args = {"-c", "llama7b", "-a", "tokens=1-64+1", "-n", "-o", "json"};
    args.insert(args.end(), more.begin(), more.end());
    const ProcessResult result = rope_bench(args);
    const Json document = Json::parse(result.out);
    for (const Json& c : document.at("cases")) found.insert(c.at("name").get<std::string>());
    return found;
  };
  std::set<std::string> joined;
  size_t count = 0;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    const std::set<std::string> part = names({"--shard", shard});
    EXPECT_GT(part.size(), 5u);
    count += part.size();
    joined.insert(part.begin(), part.end());
  }
  EXPECT_EQ(count, 64u);
  EXPECT_EQ(joined, names({}));
}

TEST(Run, DryRunRunsNothing) {
  // A device that does not exist is not asked for.
  const ProcessResult result = rope_bench({"-c", "llama7b", "-d", "cuda:99", "-n"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("llama7b/rope/fast/bf16/T1"), std::string::npos);
  EXPECT_NE(result.err.find("nothing was run"), std::string::npos);
}

TEST(Run, NoGpuIsExitCode77) {
  ProcessOptions no_gpu;
  no_gpu.env = {"CUDA_VISIBLE_DEVICES="};
  for (const Args& args : {Args{"-c", "smoke", "-d", "cuda"}, Args{"-c", "smoke", "--require-gpu"},
                           Args{"-c", "smoke", "--profile"}}) {
    const ProcessResult result = rope_bench(args, no_gpu);
    EXPECT_EQ(result.exit_code, 77);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(rope_bench({"-c", "smoke", "--no-measure", "-k", "d80"}, no_gpu).exit_code, 0);
}

TEST(Run, ColoursOnATerminalOnly) {
  ProcessOptions options;
  options.terminal = true;
  options.env = {"TERM=xterm", "NO_COLOR="};
  EXPECT_NE(rope_bench(small_run(), options).out.find("\x1b[32mpassed\x1b[0m"), std::string::npos);
  options.env = {"TERM=xterm", "NO_COLOR=1"};
  EXPECT_EQ(rope_bench(small_run(), options).out.find("\x1b["), std::string::npos);
}

TEST(Run, AFullDiskIsNotSilent) {
  ProcessOptions options;
  options.stdout_file = "/dev/full";
  const ProcessResult result = rope_bench(small_run(), options);
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_NE(result.err.find("cannot write to stdout"), std::string::npos);
}

TEST(Run, AFailedOutputLeavesTheOthers) {
  ScratchFolder folder;
  const ProcessResult result =
      rope_bench(small_run({"-o", "csv:/dev/full", "-o", "jsonl:/dev/full", "-o",
                            "json:" + folder.file("out.json"), "-o", "csv"}));
  // /dev/full twice is one file under two formats: refused before anything runs.
  EXPECT_EQ(result.exit_code, 2);
  for (const char* failing : {"csv:/dev/full", "jsonl:/dev/full"}) {
    const ProcessResult one = rope_bench(
        small_run({"-o", failing, "-o", "json:" + folder.file("out.json"), "-o", "csv"}));
    EXPECT_EQ(one.exit_code, 6) << failing;
    EXPECT_NE(one.err.find("rope-bench: cannot write /dev/full: "), std::string::npos) << one.err;
    EXPECT_EQ(Json::parse(folder.read("out.json")).at("results").size(), 2u);
    EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 3);
  }
}

TEST(Run, AReaderThatLeftCostsNoFile) {
  ScratchFolder folder;
  ProcessOptions options;
  options.closed_stdout = true;
  for (const char* format : {"table", "json", "jsonl"}) {
    const std::string file = folder.file(std::string(format) + ".csv");
    const ProcessResult result =
        rope_bench(small_run({"-q", "-o", format, "-o", "csv:" + file}), options);
    EXPECT_EQ(result.exit_code, 0) << format;
    EXPECT_EQ(result.err, "") << format;
    const std::string csv = folder.read(std::string(format) + ".csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << format;
  }
  EXPECT_EQ(rope_bench({"list", "configs"}, options).exit_code, 0);
  // Nor a row: the exit code is that of all cases.
  const ProcessResult streamed = rope_bench(small_run({"-o", "jsonl"}), options);
  EXPECT_TRUE(streamed.err.starts_with("2 cases: 2 passed")) << streamed.err;
}

TEST(Run, NoOutputOverwritesTheConfig) {
  ScratchFolder folder;
  const std::string config = R"({"name": "b", "model": {"num_heads": 1, "head_dim": 64},
                                 "tokens": 1})";
  folder.write("b.json", config);
  std::filesystem::create_symlink("b.json", folder.file("link"));
  ProcessOptions options;
  options.folder = folder.path();
  for (const char* command : {"run", "describe", "table"}) {
    for (const char* output : {"json:b.json", "json:./b.json", "json:link"}) {
      const ProcessResult result =
          rope_bench({command, "--config", "b", "--output", output}, options);
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_NE(result.err.find("would overwrite b.json"), std::string::npos) << result.err;
    }
  }
  EXPECT_EQ(folder.read("b.json"), config);
}

// Nor any other file that a command reads, nor does one output replace another.
TEST(Outputs, KeepWhatIsRead) {
  ScratchFolder folder;
  folder.write("b.json",
               R"({"name": "b", "model": {"num_heads": 1, "head_dim": 64}, "tokens": 1})");
  for (const char* file : {"q.npy", "m.json", "base"}) folder.write(file, "as it was");
  ProcessOptions options;
  options.folder = folder.path();
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"calibrate", "-c", "b", "-w", "b.json"}, "--write b.json would overwrite b.json"},
      {{"calibrate", "-c", "b", "-w", "new", "-o", "json:new"}, "--write new would overwrite new"},
      {{"verify", "-c", "b", "--q", "q.npy", "-o", "json:q.npy"}, "would overwrite q.npy"},
      {{"gate", "-c", "b", "--base", "./base", "-o", "json:base"}, "would overwrite ./base"},
      {{"gate", "-c", "b", "--base-variant", "naive", "--margins", "m.json", "-o", "csv:m.json"},
       "would overwrite m.json"},
      {{"compare", "b.json", "b.json", "--margins", "m.json", "-o", "json:m.json"},
       "would overwrite m.json"}};
  for (const auto& [words, message] : calls) {
    const ProcessResult result = rope_bench(words, options);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
  for (const char* file : {"q.npy", "m.json", "base"}) EXPECT_EQ(folder.read(file), "as it was");
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
}

TEST(Outputs, NeedAFileBehindTheColon) {
  for (const char* command : {"run", "describe", "table"}) {
    const ProcessResult result = rope_bench({command, "-c", "llama7b", "-o", "json:"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("no file after the colon"), std::string::npos) << result.err;
  }
}

TEST(Run, DryRunWritesWhatItCan) {
  ScratchFolder folder;
  const ProcessResult result =
      rope_bench(small_run({"-n", "-o", "json:" + folder.file("x.json"), "-o", "table"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("case ")) << result.out;
  EXPECT_EQ(Json::parse(folder.read("x.json")).at("cases").size(), 2u);
  for (const std::string format : {"csv", "jsonl"}) {
    const ProcessResult refused = rope_bench(small_run({"-n", "-o", format + ":/dev/null"}));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err, "rope-bench: -o " + format +
                               ": --dry-run has no results to write; allowed with it: table, "
                               "json\n");
  }
}

TEST(Run, DryRunTellsWhySomeAreSkippedBelowTheTable) {
  const ProcessResult result =
      rope_bench({"-c", "llama7b", "-n", "-a", "rotary_dim=64,256", "--set", "tokens=1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("skipped\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nskipped llama7b/"), std::string::npos) << result.out;
}

// 67 MB within a tenth of a millisecond: no host does that.
TEST(Run, AnOperationPastItsTimeoutEndsTheRunWithWhatIsFinished) {
  ScratchFolder folder;
  folder.write("slow.json", R"({"model": {"num_heads": 32, "head_dim": 128, "max_position": 4096},
      "rope": {"pairing": "neox"},
      "cases": [{"name": "a", "tokens": 1},
                {"name": "b", "tokens": 4096, "measure": {"timeout_s": 0.0001}},
                {"name": "c", "tokens": 1}]})");
  const ProcessResult result =
      rope_bench({"-c", folder.file("slow.json"), "-d", "cpu", "--no-measure", "-o",
                  "json:" + folder.file("out.json"), "-o", "jsonl:" + folder.file("out.jsonl")});
  EXPECT_EQ(result.exit_code, 6) << result.err;
  const Json rows = Json::parse(folder.read("out.json")).at("results");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("status"), "passed");
  EXPECT_EQ(rows[1].at("status"), "error");
  EXPECT_EQ(rows[1].at("reason"),
            "hung: the device did not answer within measure.timeout_s, 0.0001 s");
  EXPECT_EQ(rows[2].at("reason").get<std::string>().find("not run: the device hung in "), 0u);
  EXPECT_NE(result.out.find("3 cases: 1 passed, 2 error"), std::string::npos) << result.out;
  const std::string lines = folder.read("out.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
}

class Interrupt : public testing::TestWithParam<int> {};

// Enough work that the signal comes in the middle.
TEST_P(Interrupt, KeepsFinishedRows) {
  ScratchFolder folder;
  RunningProcess process({"-c", "llama7b", "-d", "cpu", "--no-measure", "-a", "tokens=512-4096+8",
                          "-o", "jsonl", "-o", "json:" + folder.file("out.json")},
                         {});
  EXPECT_EQ(Json::parse(process.read_line()).at("status"), "passed") << "rows are not flushed";
  process.signal(GetParam());
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_NE(result.err.find("interrupted: "), std::string::npos);
  EXPECT_NE(result.err.find(" of 449 cases: "), std::string::npos) << result.err;
  const Json document = Json::parse(folder.read("out.json"));
  EXPECT_EQ(document.at("interrupted"), true);
  EXPECT_GE(document.at("results").size(), 1u);
  EXPECT_LT(document.at("results").size(), 449u);
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace rope_bench
