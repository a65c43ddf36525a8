#!/usr/bin/env bash
# Every script through shellcheck.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
shellcheck -x -P . scripts/* .ci/run
