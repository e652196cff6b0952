#!/usr/bin/env bash
# Installs the command line of this action's own version, and for a job without a server the collector's wheel.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# -P: the working folder is the pull request's, and a `pip.py` in it would be run.
install=(python -P -m pip install --quiet --disable-pip-version-check)
"${install[@]}" "$root"
if [ "$HAS_SERVER" = true ]; then
  exit 0
fi
wheel=headgate-collector==$(python -P -c 'import headgate_cli; print(headgate_cli.VERSION)')
if [ -n "$FIND_LINKS" ]; then
  where=(--no-index --find-links "$FIND_LINKS")
elif [ -n "$INDEX_URL" ]; then
  where=(--index-url "$INDEX_URL")
else
  echo "::error::Without a server and a token, the check needs a collector: set find-links or index-url"
  exit 1
fi
# From there alone: on the public index, anybody could have taken the name. Then what the wheel needs, from the index.
"${install[@]}" --no-deps "${where[@]}" "$wheel"
"${install[@]}" "$wheel"
