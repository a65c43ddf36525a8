#!/usr/bin/env bash
# Every Python file compiles; where pyflakes is installed, nothing in it is unused or unknown.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
mapfile -t files < <(find scripts tests -type f \( -name '*.py' -o -path 'scripts/*' \) \
  -exec grep -lE '^#!.*python|^"""' {} + | grep -v '/__pycache__/')
((${#files[@]} > 8)) || { echo "only ${#files[@]} Python files found" >&2; exit 1; }
for file in "${files[@]}"; do
  python3 -c 'import sys; compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec")' "$file"
done
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import pyflakes' 2> /dev/null; then exec "$python" -m pyflakes "${files[@]}"; fi
done
echo "no pyflakes: Python files are compiled only" >&2
