#!/usr/bin/env bash
# Every shell script through shellcheck; the others are Python.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
mapfile -t scripts < <(find scripts .ci docs tests -type f \( -path 'scripts/*' -o -path .ci/run -o -name '*.sh' -o -name '*.sbatch' \) \
  ! -name '*.py' -exec grep -LE '^#!.*python' {} +)
shellcheck -x -P . "${scripts[@]}"
