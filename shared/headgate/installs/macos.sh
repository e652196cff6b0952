#!/bin/sh
# Installs Headgate's supervisor and a collector on this Mac as a service of launchd, or changes the install that is there.
# `headgate fleet install FLEET --platform macos`, or the fleet's page, composes the command that runs it: it puts the
# variables `order` and `root` in front of this script.
#
# It was never tried on a Mac: try one host before you install more.
# To remove it: sudo /opt/headgate/bin/headgate-supervisor uninstall /opt/headgate
set -eu

# @VALUES@

main() {
  [ "$(uname -s)" = Darwin ] || fail "this script installs on macOS only"
  [ -n "${order:-}" ] || fail "compose a command with \`headgate fleet install FLEET --platform macos\`, which runs this script"
  case $(uname -m) in
    x86_64) arch=amd64 sha256=${supervisor_amd64:-} packed=${packed_amd64:-} ;;
    arm64) arch=arm64 sha256=${supervisor_arm64:-} packed=${packed_arm64:-} ;;
    *) fail "there is no collector for this host's processor, $(uname -m)" ;;
  esac
  [ -n "$sha256" ] || fail "the supervisor for macOS and $arch is not published on this server"
  umask 077
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  set -- "$files/supervisor-macos-$arch?$query" -o "$work/fetched"
  case $files in
    https:*) set -- --proto =https --tlsv1.2 "$@" ;;
  esac
  curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1024 --speed-time 60 "$@" ||
    fail "the supervisor could not be fetched; compose a new command"
  seen=$(shasum -a 256 <"$work/fetched" | cut -d ' ' -f 1)
  [ "$seen" = "$sha256" ] ||
    fail "the supervisor is not what was published: its SHA-256 is $seen, not $sha256; nothing was changed"
  if [ "$packed" = gz ]; then
    gzip -dc <"$work/fetched" >"$work/headgate-supervisor"
  else
    mv "$work/fetched" "$work/headgate-supervisor"
  fi
  chmod 700 "$work/headgate-supervisor"
  # On standard input, because every user sees the arguments of processes.
  printf '%s\n' "$order" "$values" | "$work/headgate-supervisor" install "${root:-/opt/headgate}" ||
    fail "the supervisor was not installed; the reason is above"
}

fail() {
  printf 'headgate: %s\n' "$*" >&2
  exit 1
}

# Called on the last line, so that a partial download does nothing.
main
