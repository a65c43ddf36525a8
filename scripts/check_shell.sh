#!/usr/bin/env bash
# Every shell script through shellcheck; the others are Python.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
mapfile -t scripts < <(grep -LE '^#!.*python' scripts/* .ci/run)
shellcheck -x -P . "${scripts[@]}"
