#!/bin/sh
# Builds the supervisor's image on this host, for a `docker run` that finds it in no registry. It takes no options.
set -eu

# @VALUES@

main() {
  for program in curl gzip docker; do
    command -v "$program" >/dev/null || fail "$program is not installed on this host; install it, and run this again"
  done
  architecture=$(docker version --format '{{.Server.Arch}}') ||
    fail "docker does not answer; check that it runs, and that this user may use it"
  case $architecture in
    amd64)
      supervisor=supervisor-amd64 supervisor_sha256=$supervisor_amd64 supervisor_packed=$supervisor_amd64_packed
      collector=collector-amd64 collector_sha256=$collector_amd64 collector_packed=$collector_amd64_packed
      ;;
    arm64)
      supervisor=supervisor-arm64 supervisor_sha256=$supervisor_arm64 supervisor_packed=$supervisor_arm64_packed
      collector=collector-arm64 collector_sha256=$collector_arm64 collector_packed=$collector_arm64_packed
      ;;
    *) fail "there is no collector for the processor that this Docker runs on, $architecture" ;;
  esac
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Not every shell runs the EXIT trap on a signal.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  fetch headgate-supervisor "$supervisor" "$supervisor_sha256" "$supervisor_packed"
  fetch otelcol-contrib "$collector" "$collector_sha256" "$collector_packed"
  cat >"$work/Dockerfile" <<'DOCKERFILE'
# @DOCKERFILE@
DOCKERFILE
  docker build --tag "$image" "$work"
  printf 'Built %s (collector %s). Run the install command on this host.\n' "$image" "$collector_version"
}

# fetch NAME FILE SHA256 PACKED
fetch() {
  [ -n "$3" ] || fail "this server has no $2 to install; its operator runs \`make publish-install\`"
  printf 'Fetching %s ...\n' "$2"
  get "$base/$2?$query" "$work/$2" ||
    fail "$2 could not be fetched; if the command is older than an hour, compose a new one"
  seen=$(checksum "$work/$2")
  [ "$seen" = "$3" ] || fail "$2 is not what was published: its SHA-256 is $seen, not $3"
  if [ "$4" = gz ]; then
    gzip -dc <"$work/$2" >"$work/$1"
    rm -f "$work/$2"
  else
    mv "$work/$2" "$work/$1"
  fi
  chmod 755 "$work/$1"
}

# get URL FILE: without a limit of time as long as data arrives.
get() {
  case $1 in
    https:*) set -- --proto =https --tlsv1.2 "$1" -o "$2" ;;
    *) set -- "$1" -o "$2" ;;
  esac
  curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1024 --speed-time 60 "$@"
}

checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d ' ' -f 1
  else
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  fi
}

fail() {
  printf 'headgate: %s\n' "$*" >&2
  exit 1
}

# Called on the last line, so that a partial download does nothing.
main "$@"
