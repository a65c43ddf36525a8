#!/usr/bin/env bash
# Whether every C++ and CUDA file is as clang-format leaves it.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

format=$(clang_format) || die "clang-format 14 is needed: others break lines elsewhere"
find "$root/kernels" "$root/src" "$root/tests" \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 -P "$(nproc)" -n 16 "$format" --dry-run --Werror
