#!/bin/sh
# Installs Headgate's supervisor and a collector on this host, upgrades them, or with --uninstall removes them.
#
#   --root DIR             where everything goes, the default being /opt/headgate
#   --endpoint URL --deployment-id ID --token TOKEN --arch amd64|arm64
#   --env NAME=VALUE       a variable for the collector's configuration; may be repeated
#   --systemd              as a service that starts with the host (the default; as root)
#   --no-systemd           as a process that runs until the host stops
#
# Run again, it replaces what has changed and restarts the supervisor only then.
set -eu

# @VALUES@

unit=headgate-supervisor
account=headgate-supervisor

main() {
  root=/opt/headgate
  endpoint='' deployment_id='' token='' arch='' systemd=yes uninstall=no health=127.0.0.1:13143
  # Whatever the caller's is: the service's account has to reach the programs.
  umask 022
  variables=$(mktemp)
  trap 'rm -rf "$variables" "${work:-$variables}"' EXIT
  # Not every shell ends by way of EXIT on a signal.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  while [ $# -gt 0 ]; do
    case $1 in
      --systemd) systemd=yes; shift; continue ;;
      --no-systemd) systemd=no; shift; continue ;;
      --uninstall) uninstall=yes; shift; continue ;;
    esac
    [ $# -ge 2 ] || fail "$1 needs a value, or is unknown"
    case $1 in
      --endpoint) endpoint=$2 ;;
      --deployment-id) deployment_id=$2 ;;
      --token) token=$2 ;;
      --arch) arch=$2 ;;
      --root) root=$2 ;;
      --env)
        case $2 in
          HEADGATE_HEALTH_ENDPOINT=*) health=${2#*=} ;;
          # sudo keeps none of the caller's, and what the supervisor needs to get out this script needs as well.
          HTTPS_PROXY=* | https_proxy=* | NO_PROXY=* | no_proxy=* | SSL_CERT_FILE=*) export "${2?}" ;;
          [A-Za-z_]*=*) ;;
          *) fail "--env takes NAME=VALUE" ;;
        esac
        # Each ends with a NUL, so that a value may hold anything.
        printf '%s\0' "$2" >>"$variables"
        ;;
      *) fail "unknown option $1" ;;
    esac
    shift 2
  done
  case $root in
    /*[!/]*) ;;
    *) fail "--root has to be an absolute path, and not / itself" ;;
  esac
  # As the kernel names the programs that run from it.
  [ ! -d "$root" ] || root=$(cd "$root" && pwd -P)
  case $health in
    :*) probe=127.0.0.1$health ;;
    *) probe=$health ;;
  esac
  if [ "$uninstall" = yes ]; then
    remove
  else
    install
  fi
}

install() {
  for given in "$endpoint" "$deployment_id" "$token"; do
    [ -n "$given" ] || fail "--endpoint, --deployment-id and --token are needed"
  done
  for program in curl gzip; do
    command -v "$program" >/dev/null || fail "$program is needed"
  done
  [ "$(uname -s)" = Linux ] || fail "this is for Linux"
  case $(uname -m) in
    x86_64 | amd64) host=amd64 ;;
    aarch64 | arm64) host=arm64 ;;
    *) fail "there is no collector for $(uname -m)" ;;
  esac
  [ "${arch:-$host}" = "$host" ] || fail "this host is $host; compose the command for it, with arch $host"
  if [ "$systemd" = yes ]; then
    [ "$(id -u)" = 0 ] || fail "a service needs root; use sudo, or --no-systemd"
    [ -d "${SYSTEMD_RUNNING:-/run/systemd/system}" ] || fail "systemd does not run here; use --no-systemd"
    other=$(service_root)
    [ "${other:-$root}" = "$root" ] || fail "the service runs from $other already; uninstall that one first"
    case $root in
      *[!A-Za-z0-9._/-]*) fail "a service's --root may hold letters, digits and . _ - / only" ;;
    esac
  elif [ "$(service_root)" = "$root" ]; then
    fail "a service runs from $root; uninstall it first, or install with systemd"
  fi
  alive || running || free || fail "something listens at $health already, another supervisor maybe;" \
    "give this one a port of its own, with HEADGATE_HEALTH_ENDPOINT in env"

  if [ ! -d "$root" ]; then
    mkdir -p "$root" || fail "$root cannot be made; run this as a user who may, or use another --root"
  fi
  root=$(cd "$root" && pwd -P)
  alone
  for folder in bin etc var; do mkdir -p "$root/$folder"; done
  chmod 755 "$root/bin"
  chmod 700 "$root/etc" "$root/var"
  work=$(mktemp -d "$root/.installing-XXXXXX")

  changed=no
  case $host in
    amd64)
      place headgate-supervisor supervisor-amd64 "$supervisor_amd64" "$supervisor_amd64_packed" version
      place otelcol-contrib collector-amd64 "$collector_amd64" "$collector_amd64_packed" --version
      ;;
    arm64)
      place headgate-supervisor supervisor-arm64 "$supervisor_arm64" "$supervisor_arm64_packed" version
      place otelcol-contrib collector-arm64 "$collector_arm64" "$collector_arm64_packed" --version
      ;;
  esac

  umask 077
  printf '%s\n' "$token" >"$work/token"
  # The last of two counts, so no variable of a configuration replaces the connection.
  printf '%s\0' "HEADGATE_HEALTH_ENDPOINT=$health" >"$work/environment"
  cat "$variables" >>"$work/environment"
  printf '%s\0' "HEADGATE_ENDPOINT=$endpoint" "HEADGATE_DEPLOYMENT_ID=$deployment_id" \
    "HEADGATE_FLEET_TOKEN_FILE=$root/etc/token" "HEADGATE_FLEET_TOKEN=" \
    "HEADGATE_COLLECTOR=$root/bin/otelcol-contrib" "HEADGATE_STORAGE=$root/var" >>"$work/environment"
  put etc/token 600
  put etc/environment 600
  umask 022
  # So that it can be uninstalled when its link is long expired.
  get "$base?$query" "$work/headgate-install" || fail "the script could not be fetched again"
  chmod 755 "$work/headgate-install"
  mv -f "$work/headgate-install" "$root/bin/headgate-install"

  if [ "$systemd" = yes ]; then
    stop_process
    start_service
  else
    start_process
  fi
  say "Installed in $root. To remove it: $root/bin/headgate-install --uninstall --root $root"
}

# place NAME FILE SHA256 PACKED ARGUMENT: fetch a program unless this very one is there, and try it before it replaces any.
place() {
  name=$1 file=$2 sha256=$3 packed=$4 try=$5
  [ -n "$sha256" ] || fail "this server has no $file to install; its operator publishes it"
  if [ -x "$root/bin/$name" ] && [ "$(cat "$root/bin/.$name.sha256" 2>/dev/null)" = "$sha256" ]; then
    return
  fi
  say "Fetching $file ..."
  get "$base/$file?$query" "$work/$file" || fail "$file could not be fetched; the link is good for an hour"
  seen=$(checksum "$work/$file")
  [ "$seen" = "$sha256" ] || fail "$file is not what was published: its SHA-256 is $seen, not $sha256; nothing was changed"
  if [ "$packed" = gz ]; then
    gzip -dc <"$work/$file" >"$work/$name" || fail "$file could not be unpacked under $root; nothing was changed"
    rm -f "$work/$file"
  else
    mv "$work/$file" "$work/$name"
  fi
  chmod 755 "$work/$name"
  "$work/$name" "$try" >/dev/null || fail "$name does not run on this host, from $root; nothing was changed"
  # A program that runs cannot be written to, but it can be replaced.
  mv -f "$work/$name" "$root/bin/$name"
  printf '%s\n' "$sha256" >"$root/bin/.$name.sha256"
  changed=yes
}

# get URL FILE: for as long as anything arrives.
get() {
  curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1024 --speed-time 60 "$1" -o "$2"
}

# Keeps a second run of this script out of the root, and clears away what a run that was killed has left there.
alone() {
  command -v flock >/dev/null || return 0
  exec 9<"$root"
  flock -n 9 || fail "another run of this script is at work in $root"
  rm -rf "$root"/.installing-*
}

checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  else
    openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
  fi
}

# put PATH MODE: replace a file under the root by the one of that name in the work folder.
put() {
  new=$work/${1##*/}
  chmod "$2" "$new"
  if cmp -s "$new" "$root/$1"; then
    rm -f "$new"
  else
    mv -f "$new" "$root/$1"
    changed=yes
  fi
}

unit_file() {
  printf '%s' "${SYSTEMD_UNITS:-/etc/systemd/system}/$unit.service"
}

# Where the installed service runs from; nothing if there is none.
service_root() {
  sed -n 's/^Environment=HEADGATE_ROOT=//p' "$(unit_file)" 2>/dev/null || :
}

# Where SELinux is in force, a service is let run from most places only what is labelled as a program.
label() {
  command -v selinuxenabled >/dev/null && selinuxenabled || return 0
  chcon -t bin_t "$root/bin/headgate-supervisor" "$root/bin/otelcol-contrib" ||
    say "The programs could not be labelled for SELinux; if the service is not let run them, this is why."
  restorecon "$(unit_file)" || :
}

start_service() {
  id "$account" >/dev/null 2>&1 || useradd --system --no-create-home --home-dir "$root/var" --shell /usr/sbin/nologin "$account"
  chown -R "$account" "$root/etc" "$root/var"
  cat >"$work/unit" <<UNIT
[Unit]
Description=Headgate supervisor and its OpenTelemetry Collector
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Environment=HEADGATE_ROOT=$root
ExecStart="$root/bin/headgate-supervisor" --environment "$root/etc/environment"
User=$account
Restart=always
RestartSec=5
# The supervisor stops its collector; whatever is left is ended after half a minute.
KillMode=mixed
TimeoutStopSec=30
LimitNOFILE=65536

# A collector reads logs of every owner and listens on low ports; it needs nothing else of root.
AmbientCapabilities=CAP_DAC_READ_SEARCH CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths="$root/var"
ProtectHome=read-only
InaccessiblePaths=-/etc/shadow -/etc/gshadow -/root/.ssh
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
UNIT
  chmod 644 "$work/unit"
  if ! cmp -s "$work/unit" "$(unit_file)"; then
    mv -f "$work/unit" "$(unit_file)"
    changed=yes
    systemctl daemon-reload
  fi
  label
  systemctl enable --quiet "$unit"
  if [ "$changed" = yes ]; then
    systemctl restart "$unit"
  else
    systemctl start "$unit"
  fi
  wait_until_healthy "journalctl -u $unit" || fail "the supervisor does not become ready; journalctl -u $unit says why"
}

start_process() {
  if running && [ "$changed" = no ]; then
    say "Up to date, and running as process $pid."
    return
  fi
  stop_process
  if [ -f "$root/var/supervisor.log" ]; then
    mv -f "$root/var/supervisor.log" "$root/var/supervisor.log.1"
  fi
  umask 077
  nohup "$root/bin/headgate-supervisor" --environment "$root/etc/environment" \
    </dev/null >>"$root/var/supervisor.log" 2>&1 9<&- &
  pid=$!
  umask 022
  printf '%s\n' "$pid" >"$root/var/supervisor.pid"
  wait_until_healthy || {
    tail -n 20 "$root/var/supervisor.log" >&2
    fail "the supervisor does not become ready"
  }
  say "Running as process $pid, until this host stops; its log is $root/var/supervisor.log"
}

wait_until_healthy() {
  tries=0
  while [ "$tries" -lt 120 ]; do
    if curl -fsS --noproxy '*' "http://$probe/health" >/dev/null 2>&1; then
      # It may be another that answers, while ours ends because it cannot listen there.
      pause
      if alive; then return 0; fi
    fi
    if [ "$systemd" = no ] && ! running; then return 1; fi
    tries=$((tries + 1))
    pause
  done
  return 1
}

# Whether nothing listens where the supervisor is to say that it is well: 7 is curl's word for a connection refused.
free() {
  code=0
  curl -s -o /dev/null --noproxy '*' --max-time 5 "http://$probe/health" || code=$?
  [ "$code" = 7 ]
}

# Whether the supervisor of this root runs in the way that is asked for.
alive() {
  if [ "$systemd" = yes ]; then
    [ "$(service_root)" = "$root" ] && systemctl is-active --quiet "$unit"
  else
    running
  fi
}

pause() {
  sleep 0.5 2>/dev/null || sleep 1
}

# Whether the process of the pid file is our supervisor, and not another that was given its number.
running() {
  pid=$(cat "$root/var/supervisor.pid" 2>/dev/null || :)
  [ -n "$pid" ] || return 1
  case $(readlink "/proc/$pid/exe" 2>/dev/null || :) in
    # Once its program is replaced, the kernel adds that it is deleted.
    "$root/bin/headgate-supervisor" | "$root/bin/headgate-supervisor (deleted)") return 0 ;;
    *) return 1 ;;
  esac
}

stop_process() {
  running || return 0
  kill "$pid" || ! running || fail "process $pid cannot be stopped by this user"
  tries=0
  while running; do
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || { kill -9 "$pid" || :; break; }
    pause
  done
  rm -f "$root/var/supervisor.pid"
}

remove() {
  [ ! -d "$root" ] || alone
  if [ "$(service_root)" = "$root" ]; then
    [ "$(id -u)" = 0 ] || fail "a service needs root to be removed; use sudo"
    systemctl disable --now --quiet "$unit" || :
    rm -f "$(unit_file)"
    systemctl daemon-reload
    if id "$account" >/dev/null 2>&1; then userdel "$account" || :; fi
  fi
  stop_process
  # Only what this script made: another program may live under the same root.
  for name in headgate-supervisor otelcol-contrib headgate-install; do
    rm -f "$root/bin/$name" "$root/bin/.$name.sha256"
  done
  rm -f "$root/etc/token" "$root/etc/environment"
  rm -rf "${root:?}/var" "$root"/.installing-*
  rmdir "$root/bin" "$root/etc" "$root" 2>/dev/null || :
  say "Removed from $root."
}

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'headgate: %s\n' "$*" >&2
  exit 1
}

# At the end, so that half a download does nothing.
main "$@"
