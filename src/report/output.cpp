#include "src/report/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as Linux allows

std::string failure(const std::string& path, const std::string& why) {
  return fmt::format("cannot write {}: {}", path, why);
}
[[noreturn]] void fail(const std::string& path, int error) {
  throw OutputError(failure(path, std::generic_category().message(error)));
}

// The file behind symbolic links: a rename would replace the link itself. Also behind a link to
// what does not exist yet, where weakly_canonical() stops.
std::string resolved(const std::string& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(path), error);
  for (int i = 0; !error && i < kMaxLinks && fs::is_symlink(target, error); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (!error) target = fs::weakly_canonical(target.parent_path() / next, error);
  }
  const bool nowhere = target.empty();  // a pipe behind /dev/fd/63
  return nowhere || (error && error != std::errc::no_such_file_or_directory) ? path
                                                                             : target.string();
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  // One file may have two names: hard links, /dev/fd/1 and /dev/stdout.
  if (stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0)
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  return resolved(a) == resolved(b);
}

// Devices and pipes exist to be written to, not to be replaced.
bool is_special(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// Mode for the new file: that of the old one, else what the umask leaves.
mode_t wanted_mode(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// An open file that removes itself unless it is renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : target_(resolved(target)) {
    const fs::path path(target_);
    name_ = (path.parent_path() / fmt::format(".{}.XXXXXX", path.filename().string())).string();
    fd_ = mkstemp(name_.data());
    if (fd_ < 0) fail(target, errno);
  }
  ~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
    if (!renamed_) unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const std::string& content) {
    size_t done = 0;
    while (done < content.size()) {
      const ssize_t n = ::write(fd_, content.data() + done, content.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(target_, errno);
      done += static_cast<size_t>(n);
    }
  }
  void rename() {
    // close() reports what a network file system could not store.
    const int failed = fchmod(fd_, wanted_mode(target_)) | fsync(fd_) | close(fd_);
    const int error = errno;
    fd_ = -1;
    if (failed) fail(target_, error);
    if (std::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, errno);
    renamed_ = true;
  }

 private:
  std::string target_, name_;
  int fd_ = -1;
  bool renamed_ = false;
};

OutputTarget parse_output(const std::string& text, const std::vector<std::string>& allowed) {
  const size_t colon = text.find(':');
  OutputTarget target{text.substr(0, colon),
                      colon == std::string::npos ? "-" : text.substr(colon + 1)};
  if (std::find(allowed.begin(), allowed.end(), target.format) == allowed.end()) {
    const std::string near = nearest(target.format, allowed);
    throw ConfigError(fmt::format("-o {}: unknown format \"{}\"; allowed: {}{}", text,
                                  target.format, fmt::join(allowed, ", "),
                                  near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  if (target.path.empty()) {
    throw ConfigError(fmt::format("-o {}: no file after the colon; \"-\" is stdout", text));
  }
  if (target.path == "/dev/stdout") target.path = "-";
  return target;
}

}  // namespace

std::vector<OutputTarget> parse_outputs(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& allowed_formats) {
  std::vector<OutputTarget> targets;
  for (const std::string& text : texts) {
    OutputTarget target = parse_output(text, allowed_formats);
    for (size_t i = 0; i < targets.size(); ++i) {
      if (target.is_stdout() != targets[i].is_stdout()) continue;
      if (!target.is_stdout() && !same_file(target.path, targets[i].path)) continue;
      throw ConfigError(fmt::format("-o {} and -o {} both write to {}", texts[i], text,
                                    target.is_stdout() ? "stdout" : target.path));
    }
    if (!target.is_stdout()) require_writable(target.path);
    targets.push_back(std::move(target));
  }
  return targets;
}

const OutputTarget* stdout_target(const std::vector<OutputTarget>& targets) {
  for (const OutputTarget& target : targets) {
    if (target.is_stdout()) return &target;
  }
  return nullptr;
}

void require_apart(const std::string& written, const std::string& path, const std::string& input) {
  if (path.empty() || is_special(path) || !same_file(path, input)) return;
  throw ConfigError(fmt::format("{} would overwrite {}", written, input));
}

void require_apart(const std::vector<OutputTarget>& targets, const std::string& input) {
  for (const OutputTarget& target : targets) {
    if (target.is_stdout()) continue;
    require_apart(fmt::format("-o {}:{}", target.format, target.path), target.path, input);
  }
}

void require_writable(const std::string& path) {
  const auto refuse = [&](const std::string& why) { throw ConfigError(failure(path, why)); };
  std::error_code error;
  if (fs::is_directory(path, error)) refuse("it is a folder");
  if (is_special(path)) {  // a pipe behind /dev/fd/63 lies in no folder
    if (access(path.c_str(), W_OK) != 0) refuse(std::generic_category().message(errno));
    return;
  }
  const fs::path target(resolved(path));
  if (fs::is_symlink(target, error)) refuse(std::generic_category().message(ELOOP));
  const fs::path parent = target.parent_path();
  if (!fs::exists(parent, error)) refuse("there is no folder " + parent.string());
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) {
    refuse(std::generic_category().message(errno));
  }
  try {
    // The only sure answer to whether a file can be made in a folder is to make one.
    TemporaryFile probe(path);
  } catch (const OutputError& failed) {
    throw ConfigError(failed.what());
  }
}

void write_file(const std::string& path, const std::string& content) {
  if (is_special(path)) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) fail(path, errno);
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    if ((std::fclose(file) != 0) | !written) fail(path, errno);
    return;
  }
  TemporaryFile file(path);
  file.write(content);
  file.rename();
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) return;
  throw OutputError(
      fmt::format("cannot write to stdout: {}", std::generic_category().message(errno)));
}

void write_stderr(const std::string& text) {
  // Nowhere to report a failure to.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void write_target(const OutputTarget& target, const std::string& content) {
  if (target.is_stdout()) {
    write_stdout(content);
  } else {
    write_file(target.path, content);
  }
}

void OutputErrors::attempt(const std::function<void()>& write) {
  try {
    write();
  } catch (const OutputError& error) {
    lines_.push_back(error.what());
  }
}

std::string OutputErrors::text() const {
  return fmt::format("{}", fmt::join(lines_, "\nrope-bench: "));
}

void OutputErrors::raise() const {
  if (any()) throw OutputError(text());
}

LineFile::~LineFile() {
  if (file_) std::fclose(file_);
}

void LineFile::add(const std::string& line) {
  if (target_.is_stdout()) return write_stdout(line);
  if (!file_) file_ = std::fopen(target_.path.c_str(), "wb");
  if (!file_) fail(target_.path, errno);
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  if (!written || std::fflush(file_) != 0) fail(target_.path, errno);
}

}  // namespace rope_bench
