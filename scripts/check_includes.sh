#!/usr/bin/env bash
# Include directions: kernels <- case <- math <- measure; case <- hf; case <- report <- compare <- gate; cli sees all. Libraries
# that are somebody's own business (CLI11 the command line's, none of them the kernels') too.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

bad=0
# check FOLDER PATTERN: files of the folder include nothing that PATTERN forbids.
check() {
  local hits
  hits=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" || true)
  if [[ -n $hits ]]; then
    printf '%s must not include this:\n%s\n' "$1" "$hits"
    bad=1
  fi
}

check kernels 'src/|fmt/|nlohmann/|Eigen/|CLI/'
check src/case 'src/(hf|math|measure|report|compare|gate|cli)/|kernels/(cpu|cuda)/|Eigen/|CLI/'
check src/hf 'src/(math|measure|report|compare|gate|cli)/|kernels/(cpu|cuda)/|Eigen/|CLI/'
check src/math 'src/(hf|measure|report|compare|gate|cli)/|CLI/'
check src/measure 'src/(hf|report|compare|gate|cli)/|CLI/'
check src/report 'src/(hf|math|measure|compare|gate|cli)/|kernels/(cpu|cuda)/|Eigen/|CLI/'
check src/compare 'src/(hf|math|measure|gate|cli)/|kernels/(cpu|cuda)/|Eigen/|CLI/'
check src/gate 'src/(hf|math|measure|cli)/|kernels/(cpu|cuda)/|Eigen/|CLI/'
# Includes go through paths from the top, or the checks above see nothing.
check kernels '\.\./'
check src '\.\./'
exit "$bad"
