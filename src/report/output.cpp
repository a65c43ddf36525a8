#include "src/report/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ConfigError(fmt::format("cannot write {}: {}", path, why));
}
[[noreturn]] void refuse(const std::string& path, int error) {
  refuse(path, std::generic_category().message(error));
}

// The file behind a symbolic link: a rename would replace the link itself.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(fs::absolute(path), error);
  return error ? path : target.string();
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
    if (fd_ < 0) refuse(target, errno);
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
      if (n < 0) refuse(target_, errno);
      done += static_cast<size_t>(n);
    }
  }
  void rename() {
    // close() reports what a network file system could not store.
    const int failed = fchmod(fd_, wanted_mode(target_)) | fsync(fd_) | close(fd_);
    const int error = errno;
    fd_ = -1;
    if (failed) refuse(target_, error);
    if (std::rename(name_.c_str(), target_.c_str()) != 0) refuse(target_, errno);
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
      if (!target.is_stdout() && resolved(target.path) != resolved(targets[i].path)) continue;
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

void require_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) refuse(path, "it is a folder");
  const fs::path parent = fs::path(resolved(path)).parent_path();
  if (!fs::exists(parent, error)) refuse(path, "there is no folder " + parent.string());
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) refuse(path, errno);
  // The only sure answer to whether a file can be made in a folder is to make one.
  if (!is_special(path)) TemporaryFile probe(path);
}

void write_file(const std::string& path, const std::string& content) {
  if (is_special(path)) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) refuse(path, errno);
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    if ((std::fclose(file) != 0) | !written) refuse(path, errno);
    return;
  }
  TemporaryFile file(path);
  file.write(content);
  file.rename();
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw std::runtime_error(
        fmt::format("cannot write to stdout: {}", std::generic_category().message(errno)));
  }
}

void write_target(const OutputTarget& target, const std::string& content) {
  if (target.is_stdout()) {
    write_stdout(content);
  } else {
    write_file(target.path, content);
  }
}

LineFile::~LineFile() {
  if (file_) std::fclose(file_);
}

void LineFile::add(const std::string& line) {
  if (target_.is_stdout()) return write_stdout(line);
  if (!file_) file_ = std::fopen(target_.path.c_str(), "wb");
  if (!file_) refuse(target_.path, errno);
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  if (!written || std::fflush(file_) != 0) refuse(target_.path, errno);
}

}  // namespace rope_bench
