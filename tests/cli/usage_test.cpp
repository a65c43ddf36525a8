// What a user meets before anything runs: help, version, refusals. All of it fast.
#include <algorithm>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

// Sanitizers start slowly; the promise is about ordinary builds.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMaxStart = 1.0;
#else
constexpr double kMaxStart = 0.05;
#endif

struct Refusal {
  std::vector<std::string> args;
  std::string message;  // after "rope-bench: "; a beginning
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithOneLineAndExitCode2) {
  const ProcessResult result = rope_bench(GetParam().args);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.err.substr(0, 12 + GetParam().message.size()),
            "rope-bench: " + GetParam().message);
}

const Refusal kRefusals[] = {
    {{}, "no config given; try --config llama7b.json"},
    {{"--hf", "absent"},
     "--hf absent: no such file or folder; it names a config.json, or a folder"},
    {{"--hf", "/"}, "--hf /: no config.json in this folder"},
    {{"--hf", ""}, "--hf: empty; allowed: a config.json or its folder"},
    {{"--hf"}, "--hf: needs a value: FILE|FOLDER"},
    {{"-c", "llama7b", "--hf", "x"}, "--config and --hf contradict each other"},
    {{"rnu"}, "unknown command \"rnu\"; commands: run, list,"},
    {{"help"}, "unknown command \"help\"; did you mean --help?"},
    {{"llama7b"}, "unexpected \"llama7b\"; did you mean --config llama7b?"},
    {{"mine.json"}, "unexpected \"mine.json\"; did you mean --config mine.json?"},
    {{"-c", "llama7b", "list"}, "the command comes first: rope-bench list ..."},
    {{"--conifg", "llama7b"}, "unknown flag --conifg of run; did you mean --config?"},
    {{"list", "ops", "--filter", "x"}, "unknown flag --filter of list"},
    {{"--config"}, "--config: needs a value: FILE|NAME (see"},
    {{"-c", "a", "-c", "b"}, "--config: given more than once; it takes one value"},
    {{"-c", "llama7b", "-k", "a", "--filter", "b"}, "--filter: given more than once"},
    {{"-c", "llama7b", "-k", "*"}, "--filter *: neither the full name of a case nor a regular"},
    {{"-c", "llama7b", "--set", "tokens=1", "seed=2"},
     "unexpected \"seed=2\"; every value needs its own flag: --set seed=2"},
    {{"-c", "llama7b", "-q", "-v"}, "--quiet and --verbose contradict each other"},
    {{"-c", "llama7b", "--seed", "99999999999999999999"}, "--seed: 99999999999999999999 is too"},
    {{"-c", "llama7b", "--set", "dtype=bfloat16"},
     "--set dtype=bfloat16: /dtype: \"bfloat16\" is not allowed; allowed: f32, f16, bf16; "
     "nearest: \"bf16\""},
    {{"-c", "llama7b", "-d", "gpu:1"},
     "--device gpu:1: unknown device; allowed: auto, cpu, cuda, cuda:N (N from 0); nearest: cuda"},
    {{"describe", "-c", "llama7b", "-d", "cpu"}, "-d: describe runs nothing; --board NAME says"},
    {{"table", "-c", "llama7b", "--device", "cpu"}, "--device: table is computed on the CPU"},
    {{"describe", "-c", "llama7b", "--board", ""}, "--board: empty; allowed: NAME"},
    {{"table", "-c", "llama7b", "--positions", ""}, "--positions: empty; allowed: "},
    {{"-c", "llama7c"}, "--config llama7c: no such file"},
    {{"-c", "llama7b", "--seed", "-1"}, "--seed: -1 is not a whole number from 0"},
    {{"-c", "llama7b", "--seed", "1e3"}, "--seed: 1e3 is not a whole number from 0"},
    {{"-c", "llama7b", "--shard", "2/2"}, "--shard 2/2: not I/N with whole numbers 0 <= I < N"},
    {{"-c", "llama7b", "--shard", "half"}, "--shard half: not I/N"},
    {{"-c", "llama7b", "-d", "gpu"}, "--device gpu: unknown device; allowed:"},
    {{"-c", "llama7b", "-d", "cpu", "--require-gpu"}, "--require-gpu and --device cpu contradict"},
    {{"-c", "llama7b", "-d", "cpu", "--profile"},
     "--profile marks launches for NVIDIA's profilers"},
    {{"-c", "llama7b", "--no-check", "--no-measure"}, "--no-check and --no-measure leave nothing"},
    {{"-c", "llama7b", "-o", "cvs"}, "-o cvs: unknown format \"cvs\"; allowed: table, json, csv"},
    {{"-c", "llama7b", "-o", "-"}, "-o -: unknown format \"-\"; allowed: table, json, csv"},
    {{"-c", "llama7b", "-o", "csv", "-o", "json:-"}, "-o csv and -o json:- both write to stdout"},
    {{"-c", "llama7b", "-o", "csv:x", "-o", "json:./x"}, "-o csv:x and -o json:./x both write to"},
    {{"-c", "llama7b", "-o", "csv:/"}, "cannot write /: it is a folder"},
    {{"-c", "llama7b", "-o", "csv:/no/x"}, "cannot write /no/x: there is no folder /no"},
    {{"list"}, "list needs a kind; kinds: ops, variants,"},
    {{"list", "opps"}, "list: no kind \"opps\"; kinds: ops,"},
    {{"list", "ops", "more"}, "unexpected \"more\" after list"},
    {{"list", "ops", "-o", "csv"}, "-o csv: unknown format \"csv\"; allowed: text, json"},
    {{"schema", "result"}, "schema result: allowed are config and results; did you mean results?"},
    {{"describe", "-c", "llama7b", "--board", "h2000"}, "--board h2000: not a known board"},
    {{"table", "-c", "llama7b", "--positions", "1,x"}, "--positions: \"x\" is not a whole number"},
    {{"table", "-c", "llama7b", "--positions", "2147483648"}, "--positions: \"2147483648\" is not"},
    {{"table", "-c", "smoke"}, "the cases have different rope parameters ("},
};

INSTANTIATE_TEST_SUITE_P(Words, Refused, testing::ValuesIn(kRefusals));

TEST(Help, NamesCommandsFlagsAndExamples) {
  const ProcessResult result = rope_bench({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* word :
       {"Usage:",  "Commands:", "--hf",       "run ",         "list ",         "describe ",
        "table ",  "env ",      "schema ",    "Examples:",    "--config",      "--device",
        "--axis",  "--set",     "--filter",   "--output",     "--seed",        "--seq-len",
        "--shard", "--dry-run", "--no-check", "--no-measure", "--require-gpu", "--profile",
        "--quiet", "--verbose", "--version",  "Exit codes:"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
  }
}

TEST(Help, SaysWhatMayBeRepeated) {
  const std::string help = rope_bench({"--help"}).out;
  size_t count = 0;
  for (size_t at = 0; (at = help.find("repeatable", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u) << "--set, --axis and --output";
}

TEST(Help, OfEveryCommand) {
  for (const char* command :
       {"run", "list", "describe", "table", "verify", "selftest", "env", "schema"}) {
    const ProcessResult result = rope_bench({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find(std::string("Usage: rope-bench ") + command), std::string::npos);
    EXPECT_NE(result.out.find("Examples:\n  rope-bench"), std::string::npos);
    EXPECT_NE(result.out.find("-o,--output"), std::string::npos);
  }
}

TEST(Version, NamesVersionToolkitAndCompiler) {
  const ProcessResult result = rope_bench({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("rope-bench 0."));
  EXPECT_NE(result.out.find("\nCUDA toolkit: "), std::string::npos);
  EXPECT_NE(result.out.find("\ncompiler: "), std::string::npos);
}

// The best of a few, because other tests run beside this one.
double fastest(const std::vector<std::string>& args) {
  double best = 1e9;
  for (int i = 0; i < 10; ++i) best = std::min(best, rope_bench(args).seconds);
  return best;
}

TEST(Start, AnswersWithin50Milliseconds) {
  ScratchFolder folder;
  folder.write("bad.json", "{\"name\": \"x\", \"tokens\": }");
  EXPECT_LT(fastest({"--help"}), kMaxStart);
  EXPECT_LT(fastest({"-c", "llama7b", "-o", "cvs"}), kMaxStart);
  EXPECT_LT(fastest({"-c", folder.file("bad.json")}), kMaxStart);
  EXPECT_LT(fastest({"-c", "llama7b", "--set", "rope.theta=-1"}), kMaxStart);
}

#ifndef __SANITIZE_ADDRESS__  // which needs terabytes of address space
TEST(Memory, TooLittleIsSaidInOneLine) {
  ProcessOptions options;
  options.memory_bytes = size_t{200} << 20;
  const ProcessResult result =
      rope_bench({"-c", "llama7b", "-n", "--axis", "tokens=1-900000+1"}, options);
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.err, "rope-bench: not enough memory\n");
}
#endif

TEST(Start, ConfigErrorsNameFileAndLine) {
  ScratchFolder folder;
  folder.write("bad.json", "{\n \"name\": \"x\",\n \"tokens\": }");
  const ProcessResult result = rope_bench({"-c", folder.file("bad.json")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("bad.json:3"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

}  // namespace
}  // namespace rope_bench
