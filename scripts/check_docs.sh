#!/usr/bin/env bash
# Every `rope-bench ...` line in a code block of the documentation must work, and print what follows
# it in a `console` block. Runs are only listed (--dry-run) and so not compared. Links must lead to files, and paths in
# backquotes must exist.
# Usage: check_docs.sh BINARY
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
binary=$(readlink -f "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$root/tests" tests # models that --hf reads are named from the top
cp "$root"/tests/data/compare/*.json . # made-up results that the documentation compares

bad=0
complain() {
  printf '%s\n' "$*"
  bad=1
}

is_run() { [[ ! $1 =~ rope-bench\ (list|describe|table|verify|compare|selftest|env|schema) ]]; }

# run LINE: the command of a line as a user would type it, in this folder.
run() {
  local -a words
  eval "words=(${1%% #*})" # the line's own quoting, without its comment
  if is_run "$1"; then
    # A list of cases has no rows to put into a CSV: the outputs of a run are left out.
    local -a listed=()
    local i
    for ((i = 0; i < ${#words[@]}; ++i)); do
      if [[ ${words[i]} == -o ]]; then i=$((i + 1)); else listed+=("${words[i]}"); fi
    done
    words=("${listed[@]}" --dry-run)
  fi
  "$binary" "${words[@]:1}"
}

# check FILE LINE EXPECTED: an empty EXPECTED is not compared.
commands=0
check() {
  local output
  commands=$((commands + 1))
  if ! output=$(run "$2" 2> "$scratch/stderr"); then
    complain "$1: this does not work: $2"$'\n'"$(< "$scratch/stderr")"
  elif [[ -n $3 && $output != "${3%$'\n'}" ]] && ! is_run "$2"; then
    complain "$1: the output of this has changed: $2"
  fi
}

for file in "$root"/README.md "$root"/docs/*.md; do
  mapfile -t lines < "$file"
  block="" line="" expected=""
  for text in "${lines[@]}"; do
    if [[ $text == '```'* ]]; then
      if [[ -n $block && -n $line ]]; then check "$file" "$line" "$expected"; fi
      line="" expected=""
      if [[ -n $block ]]; then block=""; else block=${text#'```'}x; fi
    elif [[ $block == consolex && $text == '$ rope-bench '* ]]; then
      if [[ -n $line ]]; then check "$file" "$line" "$expected"; fi
      line=${text#'$ '} expected=""
    elif [[ $block == consolex ]]; then
      expected+=$text$'\n'
    elif [[ $block == shx && $text =~ ^(\./scripts/)?rope-bench\  ]]; then
      check "$file" "$text" ""
    fi
  done
  while IFS= read -r link; do
    [[ -e $(dirname "$file")/$link ]] || complain "$file: no such file: $link"
  done < <(grep -oE '\]\([^):#]+\)' "$file" | sed 's/^](//; s/)$//')
  # shellcheck disable=SC2016 # backquotes are what is looked for
  while IFS= read -r path; do
    compgen -G "$root/$path" > /dev/null || complain "$file: no such file: $path"
  done < <(grep -oE '`(configs|docs|kernels|scripts|src|tests)/[^` ]*`' "$file" | tr -d '`' |
    grep -vE 'NAME|FAMILY')
done
((commands > 10)) || complain "only $commands commands found: has the layout of the documentation changed?"
exit "$bad"
