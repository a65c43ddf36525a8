// -o FORMAT[:FILE]: where documents go. Refused before a run starts, written whole or not at all.
#ifndef ROPE_BENCH_SRC_REPORT_OUTPUT_H_
#define ROPE_BENCH_SRC_REPORT_OUTPUT_H_

#include <cstdio>
#include <string>
#include <vector>

namespace rope_bench {

struct OutputTarget {
  std::string format;
  std::string path;  // "-" is stdout
  bool is_stdout() const { return path == "-"; }
};

// Reads every -o, in order. Throws ConfigError for an unknown format, two targets of the same file
// or of stdout, and a file that cannot be written; touches no existing file.
std::vector<OutputTarget> parse_outputs(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& allowed_formats);

// The one that stdout was given to, or null.
const OutputTarget* stdout_target(const std::vector<OutputTarget>& targets);

// Throws ConfigError unless write_file would succeed now.
void require_writable(const std::string& path);

// Replaces the file by a new one with this content: a temporary file in the same folder, then a
// rename. The old file stays if anything fails. Devices and pipes are written directly. Throws
// ConfigError.
void write_file(const std::string& path, const std::string& content);

// stdout, checked: a full disk is an error, not silence.
void write_stdout(const std::string& text);
void write_target(const OutputTarget& target, const std::string& content);

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
