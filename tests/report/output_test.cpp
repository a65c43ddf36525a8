#include "src/report/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/case/errors.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFormats = {"table", "json", "csv"};

class Output : public testing::Test {
 protected:
  Output() {
    std::string pattern = (fs::temp_directory_path() / "rope-bench-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Output() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  size_t num_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  static std::string refusal(const std::vector<std::string>& outputs) {
    try {
      parse_outputs(outputs, kFormats);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(Output, FormatAlonePrintsOnStdout) {
  const auto targets = parse_outputs({"json", "csv:" + file("a:b.csv")}, kFormats);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(stdout_target(targets), &targets[0]);
  EXPECT_EQ(targets[1].path, file("a:b.csv"));
  EXPECT_EQ(num_files(), 0u) << "asking must leave nothing behind";
}

TEST_F(Output, UnknownFormatNamesTheAllowedAndTheNearest) {
  EXPECT_EQ(refusal({"cvs:x"}),
            "-o cvs:x: unknown format \"cvs\"; allowed: table, json, csv; did you mean csv?");
  EXPECT_EQ(refusal({"-"}), "-o -: unknown format \"-\"; allowed: table, json, csv");
  EXPECT_EQ(refusal({"csv:"}), "-o csv:: no file after the colon; \"-\" is stdout");
}

TEST_F(Output, TwoOutputsToOnePlaceAreRefused) {
  EXPECT_EQ(refusal({"json", "csv:-"}), "-o json and -o csv:- both write to stdout");
  EXPECT_EQ(refusal({"json:/dev/stdout", "csv"}),
            "-o json:/dev/stdout and -o csv both write to stdout");
  const std::string x = file("x"), same = (folder_ / "." / "x").string();
  EXPECT_EQ(refusal({"csv:" + x, "json:" + same}),
            "-o csv:" + x + " and -o json:" + same + " both write to " + same);
  fs::create_symlink(x, file("link"));
  std::ofstream(x) << "old";
  EXPECT_NE(refusal({"csv:" + x, "json:" + file("link")}), "accepted");
}

TEST_F(Output, LinksToWhatDoesNotExistYetAreFollowed) {
  fs::create_symlink("later", file("link"));
  fs::create_symlink("link", file("link2"));
  EXPECT_NE(refusal({"csv:" + file("later"), "json:" + file("link2")}), "accepted");
  EXPECT_EQ(refusal({"csv:" + file("link2")}), "accepted");
  write_file(file("link2"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link2")));
  EXPECT_EQ(read_file(file("later")), "new");
  fs::create_symlink("loop", file("loop"));
  EXPECT_NE(refusal({"csv:" + file("loop")}).find("symbolic links"), std::string::npos);
}

TEST_F(Output, WhatWasReadIsNotOverwritten) {
  std::ofstream(file("config")) << "{}";
  fs::create_symlink("config", file("link"));
  fs::create_hard_link(file("config"), file("hard"));
  for (const std::string name : {"config", "./config", "link", "hard"}) {
    EXPECT_THROW(require_apart({{"json", file(name)}}, file("config")), ConfigError) << name;
  }
  EXPECT_NO_THROW(require_apart({{"json", "-"}, {"json", file("other")}}, file("config")));
}

TEST_F(Output, AFailureLeavesTheOthers) {
  OutputErrors errors;
  errors.attempt([] { write_file("/dev/full", "text"); });
  errors.attempt([&] { write_file(file("x"), "text"); });
  errors.attempt([&] { write_file(file("no/x"), "text"); });
  EXPECT_EQ(read_file(file("x")), "text");
  EXPECT_EQ(errors.text(),
            "cannot write /dev/full: No space left on device\nrope-bench: cannot write " +
                file("no/x") + ": No such file or directory");
  EXPECT_THROW(errors.raise(), OutputError);
}

TEST_F(Output, WhatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_EQ(refusal({"csv:" + folder_.string()}),
            "cannot write " + folder_.string() + ": it is a folder");
  EXPECT_EQ(refusal({"csv:" + file("no/x.csv")}),
            "cannot write " + file("no/x.csv") + ": there is no folder " + file("no"));
  if (geteuid() == 0) return;  // root may write anywhere
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(refusal({"csv:" + file("x.csv")}).find("Permission denied"), std::string::npos);
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(Output, AskingTouchesNoExistingFile) {
  std::ofstream(file("x")) << "old";
  EXPECT_EQ(refusal({"csv:" + file("x")}), "accepted");
  EXPECT_EQ(read_file(file("x")), "old");
}

TEST_F(Output, ReplacesAFileAndKeepsItsMode) {
  std::ofstream(file("x")) << "a much longer old text";
  chmod(file("x").c_str(), 0640);
  write_file(file("x"), "new");
  EXPECT_EQ(read_file(file("x")), "new");
  struct stat info {};
  ASSERT_EQ(stat(file("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(Output, WritesThroughALink) {
  std::ofstream(file("target")) << "old";
  fs::create_symlink("target", file("link"));
  write_file(file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(read_file(file("target")), "new");
}

TEST_F(Output, DevicesAreNotReplaced) {
  write_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_file("/dev/full", "text"), OutputError);
}

TEST_F(Output, AFailureKeepsTheOldFile) {
  std::ofstream(file("x")) << "old";
  fs::create_directory(file("folder"));
  EXPECT_THROW(write_file(file("folder"), "new"), OutputError);
  EXPECT_EQ(read_file(file("x")), "old");
  EXPECT_EQ(num_files(), 2u) << "a temporary file was left";
}

TEST_F(Output, LinesAreThereAsSoonAsAdded) {
  std::ofstream(file("x")) << "old";
  LineFile lines({"jsonl", file("x")});
  EXPECT_EQ(read_file(file("x")), "old");
  lines.add("1\n");
  EXPECT_EQ(read_file(file("x")), "1\n");
  lines.add("2\n");
  EXPECT_EQ(read_file(file("x")), "1\n2\n");
}

}  // namespace
}  // namespace rope_bench
