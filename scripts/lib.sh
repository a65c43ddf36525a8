# Shared by scripts/rope-bench and scripts/test: packages, toolchain, configuring and building.
# Sourced; expects `set -euo pipefail` and $root, the top of the source tree.
# shellcheck shell=bash

# Everything that is not the tool's own output goes to stderr.
say() { printf 'rope-bench: %s\n' "$*" >&2; }
# 6 is what the tool itself uses for "not your fault": 1 would mean a wrong result.
die() {
  say "$*"
  exit 6
}

has() { command -v "$1" > /dev/null 2>&1; }

# Prints the Debian/Ubuntu packages that are missing for `tool`, or for `tests` too.
missing_packages() {
  has cmake || echo cmake
  has c++ || has g++ || echo g++
  has ninja || has make || echo ninja-build
  # CMAKE_PREFIX_PATH means that somebody keeps libraries elsewhere; CMake finds those itself.
  [[ -z ${CMAKE_PREFIX_PATH:-} ]] || return 0
  local pair probe="" compiler
  local -a pairs=(fmt/core.h=libfmt-dev nlohmann/json.hpp=nlohmann-json3-dev
    eigen3/Eigen/Core=libeigen3-dev CLI/App.hpp=libcli11-dev)
  if [[ $1 == tests ]]; then pairs+=(gtest/gtest.h=libgtest-dev); fi
  compiler=$(command -v c++ || command -v g++ || true)
  for pair in "${pairs[@]}"; do
    probe+="#if !__has_include(<${pair%%=*}>)"$'\n'"missing ${pair#*=}"$'\n#endif\n'
  done
  if [[ -n $compiler ]]; then
    "$compiler" -E -P -x c++ - <<< "$probe" 2> /dev/null | sed -n 's/^missing //p' | tr -d ' '
  else
    printf '%s\n' "${pairs[@]#*=}"
  fi
}

# Installs what is missing for `tool` or `tests`, or says what to install. Asks nothing.
ensure_packages() {
  local -a packages as_root=()
  mapfile -t packages < <(missing_packages "$1")
  ((${#packages[@]})) || return 0
  local line="apt-get install -y --no-install-recommends ${packages[*]}"
  if [[ ${ROPE_BENCH_NO_INSTALL:-0} != 0 ]]; then
    die "missing packages; install them with: sudo $line"
  fi
  has apt-get || die "missing: ${packages[*]} (Debian's names); install them, then start again"
  if ((EUID != 0)); then
    if ! has sudo || ! sudo -n true 2> /dev/null; then
      die "missing packages, and no right to install them; run: sudo $line"
    fi
    as_root=(sudo -n)
  fi
  say "installing ${packages[*]}"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086 # the line is meant to be split
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $line; } \
    > "$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get failed; run: sudo $line"
  fi
  rm -f "$log"
}

# Every nvcc in the usual places, best first. Runs nothing, so that a start stays cheap.
nvcc_candidates() {
  local -a found=()
  local path
  for path in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc; do
    if [[ -x $path && ! -d $path ]]; then found+=("$path"); fi
  done
  if ((${#found[@]})); then printf '%s\n' "${found[@]}"; fi
}

nvcc_version() { "$1" --version 2> /dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# The flags that configure for this machine's CUDA, one a line; CPU only if there is no nvcc >= 12.8.
cuda_flags() {
  local nvcc version major minor old=""
  while read -r nvcc; do
    version=$(nvcc_version "$nvcc")
    major=${version%%.*} minor=${version#*.}
    [[ -n $version ]] || continue
    if ((major > 12 || (major == 12 && minor >= 8))); then
      local arch
      arch=$(cuda_architecture "$nvcc")
      say "CUDA $version ($nvcc), architecture $arch"
      printf '%s\n' -DROPE_BENCH_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" \
        "-DCMAKE_CUDA_ARCHITECTURES=$arch"
      return
    fi
    old="; nvcc $version is too old"
  done < <(nvcc_candidates)
  say "no nvcc 12.8 or newer$old: building for the CPU only"
  echo -DROPE_BENCH_CUDA=OFF
}

# That of the first GPU, if this nvcc knows it; else 90. CMake adds PTX to a plain number.
cuda_architecture() {
  local arch=""
  if has nvidia-smi; then
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 |
      tr -cd 0-9 || true)
  fi
  if [[ -n $arch ]] && "$1" --list-gpu-arch 2> /dev/null | grep -qx "compute_$arch"; then
    echo "$arch"
  else
    echo 90
  fi
}

# The GPUs that a test could use.
has_gpu() { has nvidia-smi && nvidia-smi -L 2> /dev/null | grep -q '^GPU'; }

# build_in DIR TARGET CMAKE_FLAGS...: configures and builds; the log is DIR/build.log.
build_in() {
  local dir=$1 target=$2
  shift 2
  local -a flags=(-S "$root" -B "$dir" "$@")
  if [[ ! -f $dir/CMakeCache.txt ]] && has ninja; then flags+=(-G Ninja); fi
  if has ccache; then flags+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  mkdir -p "$dir"
  local log=$dir/build.log
  if ! { cmake "${flags[@]}" && cmake --build "$dir" --target "$target" --parallel "$(nproc)"; } \
    > "$log" 2>&1; then
    grep -E -A 8 '(error:|^FAILED|CMake Error)' "$log" | head -n 40 >&2 || tail -n 40 "$log" >&2
    die "the build failed; the whole log is $log"
  fi
}

# The clang-format of Debian 12, which the sources are formatted with: versions differ in taste.
clang_format() {
  local name
  for name in clang-format-14 clang-format; do
    if has "$name" && "$name" --version | grep -q 'version 14\.'; then
      echo "$name"
      return
    fi
  done
  return 1
}
