#!/usr/bin/env bash
# Runs every check, also behind one that failed; writes annotations to the log, files to RUNNER_TEMP, and the outputs.
# File names and texts of a pull request may be anything: they are arguments and files here, never a part of a command.
set -euo pipefail
shopt -s globstar nullglob
out=$(mktemp -d "$RUNNER_TEMP/headgate-XXXXXX")
result=passed

say() { printf '%s\n' "$1" >>"$GITHUB_STEP_SUMMARY"; }

# Runs a check, and notes its title with how it ended. Status 1 and above fail the check as a whole.
check() {
  local title=$1
  shift
  echo "$title ..."
  if "$@"; then
    say "- $title: passed"
  else
    say "- $title: **failed**"
    result=failed
  fi
}

if [ -n "$HEADGATE_URL" ] && [ -n "$SERVICE_API_TOKEN" ]; then
  ask=()
else
  unset HEADGATE_URL SERVICE_API_TOKEN
  ask=(--local)
fi
version=()
tested=()
if [ -n "$COLLECTOR_VERSION" ]; then
  version=(--version "$COLLECTOR_VERSION")
  tested=(--collector-version "$COLLECTOR_VERSION")
fi
judged=()
if [ "$POLICIES" = true ]; then
  judged=(--policies)
fi

chosen=()
# Without separators, a pattern is expanded and not split: names may contain spaces and line ends.
IFS=
while read -r pattern; do
  # To be expanded:
  # shellcheck disable=SC2206
  matches=($pattern)
  for file in "${matches[@]}"; do
    if [ -f "$file" ]; then
      # `-` alone would be standard input.
      case $file in -*) file=./$file ;; esac
      chosen+=("$file")
    fi
  done
done <<<"$FILES"
unset IFS

say "### Headgate"
if [ ${#chosen[@]} -eq 0 ]; then
  echo "::error::No file matches the input files"
  say "- No file matches"
  result=failed
else
  check Validate headgate validate "${ask[@]}" "${version[@]}" "${judged[@]}" --format github -- "${chosen[@]}"
  check Lint headgate lint "${ask[@]}" "${version[@]}" --format github -- "${chosen[@]}"
  # The verdict is above; this only writes the file.
  headgate validate "${ask[@]}" "${version[@]}" "${judged[@]}" --format sarif -- "${chosen[@]}" >"$out/findings.sarif" || true
  echo "sarif=$out/findings.sarif" >>"$GITHUB_OUTPUT"
fi

if [ -n "$FOLDER" ] && [ -d "$FOLDER" ]; then
  tests=("$FOLDER"/**/*.tests)
  if [ ${#tests[@]} -gt 0 ]; then
    check Test headgate test suite "${ask[@]}" "${tested[@]}" --format github --junit "$out/tests.xml" -- "$FOLDER"
    echo "junit=$out/tests.xml" >>"$GITHUB_OUTPUT"
  fi
  if [ -n "$BASE" ]; then
    # A checkout has one commit only; the comparison needs the base, and what both have in common.
    git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --unshallow origin "$BASE" || git fetch --quiet origin "$BASE"
    status=0
    headgate test diff "${ask[@]}" "${tested[@]}" --base "$BASE" --markdown -- "$FOLDER" >"$out/comparison.md" || status=$?
    case $status in
      0) echo "differs=false" >>"$GITHUB_OUTPUT" ;;
      1) echo "differs=true" >>"$GITHUB_OUTPUT" ;;
      *)
        echo "::error::The configurations could not be compared with the base"
        result=failed
        ;;
    esac
    if [ -s "$out/comparison.md" ]; then
      cat "$out/comparison.md" >>"$GITHUB_STEP_SUMMARY"
      echo "comparison=$out/comparison.md" >>"$GITHUB_OUTPUT"
    fi
  fi
fi
echo "result=$result" >>"$GITHUB_OUTPUT"
