// -o FORMAT[:FILE]: where documents go. Refused before a run starts, written whole or not at all.
#ifndef ROPE_BENCH_SRC_REPORT_OUTPUT_H_
#define ROPE_BENCH_SRC_REPORT_OUTPUT_H_

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rope_bench {

struct OutputTarget {
  std::string format;
  std::string path;  // "-" is stdout
  bool is_stdout() const { return path == "-"; }
};

// Writing failed after the work was done: ExitCode::kInternal.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads every -o, in order. Throws ConfigError for an unknown format, two targets of the same file
// or of stdout, and a file that cannot be written; touches no existing file.
std::vector<OutputTarget> parse_outputs(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& allowed_formats);

// The one that stdout was given to, or null.
const OutputTarget* stdout_target(const std::vector<OutputTarget>& targets);

// Throws ConfigError if a target is the file that was read, under whatever name.
void require_apart(const std::vector<OutputTarget>& targets, const std::string& input);
// The same for a file that another flag writes to, `written` as it was given ("--write m.json").
void require_apart(const std::string& written, const std::string& path, const std::string& input);

// Throws ConfigError unless write_file would succeed now.
void require_writable(const std::string& path);

// Replaces the file by a new one with this content: a temporary file in the same folder, then a
// rename. The old file stays if anything fails. Devices and pipes are written directly. Throws
// OutputError.
void write_file(const std::string& path, const std::string& content);

// stdout, checked: a full disk is an OutputError, not silence. A reader that left (`| head`) has
// what it wanted: no error.
void write_stdout(const std::string& text);
void write_target(const OutputTarget& target, const std::string& content);
// Unchecked: a closed stderr ends nothing.
void write_stderr(const std::string& text);

// One output that fails must not cost the others.
class OutputErrors {
 public:
  // Runs `write`, keeps its OutputError.
  void attempt(const std::function<void()>& write);
  bool any() const { return !lines_.empty(); }
  std::string text() const;  // a line for each, in the program's name but for the first
  void raise() const;        // throws OutputError if any failed

 private:
  std::vector<std::string> lines_;
};

// A file that grows by whole lines, each on disk as soon as it is added: what is there survives
// whatever ends the process. The file is emptied by the first line.
class LineFile {
 public:
  explicit LineFile(OutputTarget target) : target_(std::move(target)) {}
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void add(const std::string& line);

 private:
  OutputTarget target_;
  std::FILE* file_ = nullptr;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_OUTPUT_H_
