#!/bin/sh
# Installs Headgate's supervisor and a collector on this host, upgrades them, or with --uninstall removes them.
#
#   --root DIR             where everything goes, the default being /opt/headgate; a folder of its own
#   --endpoint URL --deployment-id ID --token TOKEN --arch amd64|arm64
#   --secrets CODE         fetches the secrets that are stored with the deployment, sealed for this host
#   --env NAME=VALUE       a variable for the collector's configuration; may be repeated. NAME= removes it
#   --clear-env            drop the variables of the previous install, which are kept otherwise
#   --systemd              as a service that starts with the host (the default; as root)
#   --no-systemd           as a process that runs until the host stops
#   --from-official        takes the place of the official supervisor's service, which goes on if this one does not run
#
# Running it again replaces what has changed, and restarts the supervisor only if something has. It lists everything it
# creates in .headgate-installed in the folder, and --uninstall removes nothing else.
set -eu

# @VALUES@

unit=headgate-supervisor
# As the packages of the OpenTelemetry project name it.
official=opampsupervisor
account=headgate-supervisor
listing=.headgate-installed
marker="Headgate's installer made what is listed here, and removes nothing else."
# The supervisor's files in var.
state='agent.log effective.yaml headgate-capture.json headgate-configurations.json headgate-orders.json headgate-token.json host-key.json identity.json last_recv_own_telemetry_config.dat last_recv_remote_config.dat lock
own-metrics.yaml persistent_state.yaml supervisor.log supervisor.log.1 supervisor.pid'

main() {
  root=/opt/headgate
  endpoint='' deployment_id='' token='' secrets='' arch='' systemd=yes uninstall=no clear=no names=' ' health='' takes_over=no gone=no
  # Not the caller's umask: the service's account has to read the programs.
  umask 022
  private=$(mktemp -d)
  variables=$private/variables
  : >"$variables"
  trap leave EXIT
  # Not every shell runs the EXIT trap on a signal.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  while [ $# -gt 0 ]; do
    case $1 in
      --systemd) systemd=yes; shift; continue ;;
      --no-systemd) systemd=no; shift; continue ;;
      --from-official) takes_over=yes; shift; continue ;;
      --uninstall) uninstall=yes; shift; continue ;;
      --clear-env) clear=yes; shift; continue ;;
      -h | --help) usage; exit 0 ;;
    esac
    [ $# -ge 2 ] || fail "$1 needs a value, or is not an option"
    case $1 in
      --endpoint) endpoint=$2 ;;
      --deployment-id) deployment_id=$2 ;;
      --token) token=$2 ;;
      --secrets) secrets=$2 ;;
      --arch) arch=$2 ;;
      --root) root=$2 ;;
      --env)
        case ${2%%=*} in
          "$2" | '' | [!A-Za-z_]* | *[!A-Za-z0-9_]*) fail "--env takes NAME=VALUE" ;;
        esac
        names="$names${2%%=*} "
        case $2 in
          *=) ;;
          HEADGATE_HEALTH_ENDPOINT=*) health=${2#*=} ;;
          # Entries end with a NUL, so that a value may contain anything else.
          *) printf '%s\0' "$2" >>"$variables" ;;
        esac
        ;;
      *) fail "unknown option $1" ;;
    esac
    shift 2
  done
  resolve
  if [ "$uninstall" = yes ]; then
    remove
  else
    install
  fi
}

usage() {
  cat <<'USAGE'
Installs Headgate's supervisor and a collector on this host, upgrades them, or with --uninstall removes them. `headgate
fleet install`, or the fleet's page, composes the command.

  --endpoint URL --deployment-id ID --token TOKEN   the connection; needed to install
  --root DIR         where everything goes, /opt/headgate by default; a folder of its own
  --arch ARCH        amd64 or arm64; the command is refused on a host of the other
  --secrets CODE     fetches the secrets that are stored with the deployment, sealed for this host
  --env NAME=VALUE   a variable for the collector's configuration; may be repeated. NAME= removes it
  --clear-env        drop the variables of the previous install, which are kept otherwise
  --systemd          as a service that starts with the host (the default; as root)
  --no-systemd       as a process that runs until the host stops
  --from-official    take the place of the official supervisor's service opampsupervisor: the host stays the same instance
                     and starts with what it received last; if this one does not run, the official one goes on
  --uninstall        remove what an install created, and nothing else
USAGE
}

# Resolves every link in --root, before the folder is read or changed.
resolve() {
  case $root in
    '') fail "--root is empty: leave it out for /opt/headgate, or give it an absolute path" ;;
    / | [!/]* | *//* | */. | */.. | */./* | */../* | *[[:cntrl:]]*)
      fail "--root has to be an absolute path without \`.\`, \`..\`, \`//\` and line breaks, and not / itself; not '$root'"
      ;;
  esac
  root=${root%/}
  there=$root missing=''
  while [ ! -d "$there" ]; do
    [ ! -e "$there" ] && [ ! -L "$there" ] || fail "$there is not a folder"
    missing=/${there##*/}$missing there=${there%/*}
    there=${there:-/}
  done
  # The path by which the kernel names programs that run from it.
  there=$(cd "$there" && pwd -P)
  root=${there%/}$missing
  case $root in
    '' | /bin | /boot | /dev | /etc | /home | /lib | /lib?? | /libx32 | /media | /mnt | /opt | /proc | /root | /run | \
      /sbin | /srv | /sys | /tmp | /usr | /var | /dev/* | /proc/* | /sys/* | *[[:cntrl:]]*)
      fail "$root is a system folder; give --root a folder of its own, such as /opt/headgate"
      ;;
  esac
  # A user who may replace a folder on the way could put something else in its place between two commands.
  above=''
  rest=${root#/}/
  while :; do
    [ -d "${above:-/}" ] || break
    sure "${above:-/}"
    [ -n "$rest" ] || break
    above=$above/${rest%%/*} rest=${rest#*/}
  done
}

# sure PATH: fail unless root or this user owns it, and nobody else may replace its contents.
sure() {
  # shellcheck disable=SC2012  # find is not on every host, and only the first words of ls are read.
  owner=$(ls -ldn "$1" | { read -r mode _ uid _ && echo "$uid $mode"; })
  mode=${owner#* } owner=${owner%% *}
  [ "$owner" = 0 ] || [ "$owner" = "$(id -u)" ] ||
    fail "$1 belongs to user id $owner, who could replace its contents;" \
      "run this as that user, or use another --root"
  case $mode in
    # In a sticky folder, users may replace only their own files.
    ????????w[tT]*) [ "$1" != "$root" ] || fail "every user may write to $1; use another --root" ;;
    ????????w*) fail "every user may write to $1 and replace its contents; use another --root" ;;
  esac
}

install() {
  for given in "$endpoint" "$deployment_id" "$token"; do
    [ -n "$given" ] || fail "--endpoint, --deployment-id and --token are needed"
  done
  for program in curl gzip; do
    command -v "$program" >/dev/null || fail "$program is not installed on this host; install it, and run this again"
  done
  [ "$(uname -s)" = Linux ] || fail "this script installs on Linux only"
  case $(uname -m) in
    x86_64 | amd64) host=amd64 ;;
    aarch64 | arm64) host=arm64 ;;
    *) fail "there is no collector for this host's processor, $(uname -m)" ;;
  esac
  [ "${arch:-$host}" = "$host" ] || fail "this host is $host, and the command is for $arch; compose it with arch $host"
  if [ "$systemd" = yes ]; then
    [ "$(id -u)" = 0 ] || fail "a service needs root; use sudo, or --no-systemd"
    [ -d "${SYSTEMD_RUNNING:-/run/systemd/system}" ] || fail "systemd does not run here; use --no-systemd"
    other=$(service_root)
    [ "${other:-$root}" = "$root" ] || fail "the service runs from $other already; uninstall it first"
    case $root in
      *[!A-Za-z0-9._/-]*) fail "with systemd, --root may contain letters, digits and . _ - / only" ;;
    esac
  elif [ "$(service_root)" = "$root" ]; then
    fail "a service runs from $root; uninstall it first, or install with systemd"
  fi
  [ "$takes_over" = no ] || find_official
  if [ -d "$root" ]; then
    alone
    ours || earlier || unused || fail "$root contains files that no install created; give --root an" \
      "empty folder, or one that does not exist yet"
  fi
  gather
  alive || running || free || fail "$health is in use already, perhaps by another supervisor;" \
    "give this one its own port with HEADGATE_HEALTH_ENDPOINT in env"
  resolves localhost || fail "localhost does not resolve on this host, and the supervisor listens there;" \
    "add the line '127.0.0.1 localhost' to /etc/hosts"
  require_token

  if [ ! -d "$root" ]; then
    make_root
    alone
  fi
  adopt
  rm -rf "$root"/.installing-*
  for folder in bin etc var; do make_folder "$folder"; done
  # var is the home of the service's account, where components of the collector make a .cache.
  for folder in storage queue programs .cache; do record tree "var/$folder"; done
  for name in $state; do record file "var/$name"; done
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
  [ "$takes_over" = no ] || bring
  [ -z "$secrets" ] || unseal
  printf '%s\n' "$token" >"$work/token"
  # The last of two entries counts, so a variable of a configuration never replaces the connection.
  printf '%s\0' "HEADGATE_HEALTH_ENDPOINT=$health" >"$work/environment"
  cat "$variables" >>"$work/environment"
  printf '%s\0' "HEADGATE_ENDPOINT=$endpoint" "HEADGATE_DEPLOYMENT_ID=$deployment_id" \
    "HEADGATE_FLEET_TOKEN_FILE=$root/etc/token" "HEADGATE_FLEET_TOKEN=" \
    "HEADGATE_COLLECTOR=$root/bin/otelcol-contrib" "HEADGATE_STORAGE=$root/var" "HEADGATE_PLATFORM=linux" \
    >>"$work/environment"
  put etc/token 600
  put etc/environment 600
  umask 022
  # So that it can be uninstalled after its link has expired.
  get "$base?$query" "$work/headgate-install" || fail "the script could not be fetched again; compose a new command"
  chmod 755 "$work/headgate-install"
  record file bin/headgate-install
  replace "$work/headgate-install" bin/headgate-install

  if [ "$systemd" = yes ]; then
    stop_process
    [ "$takes_over" = no ] || stop_official
    start_service
    [ "$takes_over" = no ] || prove
  else
    start_process
  fi
  say "Installed in $root. To remove it: $root/bin/headgate-install --uninstall --root $root"
}

# Finds the process of the official supervisor's service.
find_official() {
  [ "$systemd" = yes ] || fail "--from-official is for a service; leave out --no-systemd"
  former=$(systemctl show --property MainPID --value "$official" 2>/dev/null || :)
  case $former in
    '' | 0) fail "the service $official does not run on this host; start it first, or install without --from-official" ;;
  esac
  if alive || running; then
    fail "Headgate's supervisor runs on this host already, beside the service $official; uninstall one of the two first"
  fi
  # Other names of a service, and a unit outside of systemd's folders, are gone once it is disabled.
  official=$(systemctl show --property Id --value "$official")
  official=${official%.service}
  linked=$(systemctl show --property FragmentPath --value "$official")
  if [ -L "$linked" ]; then linked=$(readlink -f "$linked"); else linked=''; fi
  enabled=$(systemctl is-enabled "$official" 2>/dev/null || :)
}

# Brings what the official supervisor knows of this host, and says what stays. Its variables are for the collector.
bring() {
  "$root/bin/headgate-supervisor" takeover "$former" "$root/var" "$private/brought" ||
    fail "the official supervisor goes on; nothing was stopped"
  octal "$private/brought" >"$private/octal"
  # After those of an attempt before, since the last of two entries counts.
  while IFS= read -r entry; do
    name=$(printf '%b' "${entry%%\\0075*}")
    case $names in
      *" $name "*) say "Does not stay: $name, for which the command has another value" ;;
      *) printf '%b\0' "$entry" >>"$variables" ;;
    esac
  done <"$private/octal"
}

stop_official() {
  say "Stopping the official supervisor ..."
  # The supervisor removes the folder when its collector runs and Headgate has answered it, and signs no message before.
  rm -rf "$root/var/takeover"
  mkdir "$root/var/takeover"
  record tree var/takeover
  gone=yes changed=yes
  systemctl disable --now --quiet "$official"
}

# Waits until the supervisor has proved itself.
prove() {
  tries=0
  while [ -d "$root/var/takeover" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 240 ] || ! alive; then
      fail "the collector did not run, or Headgate did not answer it: $(journalctl -u "$unit" -n 50 -o cat --no-pager | reason)"
    fi
    pause
  done
  gone=no
  say "The service $official is stopped and disabled. It may be removed, and so may its files."
}

leave() {
  # A signal that is sent again ends nothing in the middle.
  trap '' HUP INT TERM
  [ "$gone" = no ] || go_back
  rm -rf "$private" "${work:-$private}"
}

# Lets the official supervisor go on, if this one has not taken its place. A terminal that is gone takes no words.
go_back() {
  # The supervisor removes an empty folder only, and so can prove itself no more.
  if ! mkdir "$root/var/takeover/ended" 2>/dev/null && [ ! -d "$root/var/takeover" ]; then
    say "headgate: Headgate's supervisor has taken its place, and stays; the service $official is stopped and disabled" >&2 || :
    return
  fi
  systemctl disable --now --quiet "$unit" || :
  rm -rf "$root/var/takeover"
  [ -z "$linked" ] || systemctl link --quiet "$linked" || :
  [ "$enabled" != enabled ] || systemctl enable --quiet "$official" || :
  if systemctl start "$official"; then
    say "headgate: the official supervisor runs again" >&2 || :
  else
    say "headgate: the official supervisor could not be started again; see journalctl -u $official" >&2 || :
  fi
}

# Whether this script installed here: the folder has its list, and only root and this user could have changed that.
ours() {
  [ -f "$root/$listing" ] && [ ! -L "$root/$listing" ] || return 1
  { IFS= read -r first && IFS= read -r where; } <"$root/$listing" || return 1
  [ "$first" = "$marker" ] || return 1
  sure "$root/$listing"
  [ "$where" = "root $root" ] ||
    fail "$root was installed as ${where#root }, and is a copy or has moved; remove it by that path, or by hand"
}

# Whether the script of before 2026-11-22 installed here: it wrote no list, but its environment file names the folder.
earlier() {
  for name in headgate-supervisor headgate-install; do
    [ -f "$root/bin/$name" ] && [ ! -L "$root/bin/$name" ] || return 1
  done
  [ -f "$root/etc/environment" ] && [ ! -L "$root/etc/environment" ] || return 1
  IFS= read -r said <"$root/bin/.headgate-supervisor.sha256" 2>/dev/null || return 1
  [ "${#said}" = 64 ] || return 1
  octal "$root/etc/environment" >"$private/earlier"
  while IFS= read -r entry; do
    [ "$(printf '%b' "$entry")" != "HEADGATE_STORAGE=$root/var" ] || return 0
  done <"$private/earlier"
  return 1
}

# Whether the folder is empty, or a new disk's.
unused() {
  for entry in "$root"/* "$root"/.[!.]* "$root"/..?*; do
    case $entry in
      "$root/lost+found") ;;
      *) [ ! -e "$entry" ] && [ ! -L "$entry" ] || return 1 ;;
    esac
  done
}

# Creates the folder step by step: `mkdir -p` would accept a folder that another user creates meanwhile.
make_root() {
  at=$there
  rest=${root#"${there%/}"/}/
  made=''
  while [ -n "$rest" ]; do
    at=${at%/}/${rest%%/*} rest=${rest#*/}
    mkdir "$at" || fail "$at cannot be created; run this as a user who may create it, or use another --root"
    made=yes
  done
}

# Begins the list of what this script creates, or continues the one that exists.
adopt() {
  ours && return 0
  before=no
  if earlier; then before=yes; fi
  {
    printf '%s\n' "$marker" "root $root"
    [ "${made:-$before}" != yes ] || echo 'folder .'
    if [ "$before" = yes ]; then
      printf '%s\n' 'folder bin' 'folder etc' 'folder var' 'tree var/storage' 'tree var/queue' 'tree var/programs' 'file etc/token' \
        'file etc/environment' 'file bin/headgate-install'
      for name in headgate-supervisor otelcol-contrib; do
        printf '%s\n' "file bin/$name" "file bin/.$name.sha256"
      done
      for name in $state; do echo "file var/$name"; done
      if [ "$(service_root)" = "$root" ]; then
        echo "unit $(unit_file)"
        # Only an account that was created for this folder has its home in it.
        [ "$(home_of_account)" != "$root/var" ] || echo "user $account"
      fi
    fi
  } >"$root/$listing.new"
  mv -f "$root/$listing.new" "$root/$listing"
}

# record KIND NAME: list it before it is created, so that an interrupted run can be uninstalled, too.
record() {
  grep -qxF "$1 $2" "$root/$listing" || echo "$1 $2" >>"$root/$listing"
}

make_folder() {
  if [ -L "$root/$1" ] || [ ! -d "$root/$1" ]; then
    [ ! -e "$root/$1" ] && [ ! -L "$root/$1" ] || fail "$root/$1 is not a folder, or a link to one; remove it first"
    record folder "$1"
    mkdir "$root/$1"
  fi
}

# replace NEW NAME: replace a file under the root; never put it into a folder of that name.
replace() {
  [ -L "$root/$2" ] || [ ! -d "$root/$2" ] || fail "$root/$2 is a folder; remove it first"
  # mv would move it into the folder that a link points to.
  [ ! -L "$root/$2" ] || rm -f "$root/$2"
  mv -f "$1" "$root/$2"
}

# octal FILE: prints its NUL-terminated entries, one a line, every byte escaped for `printf %b`.
octal() {
  od -An -v -to1 <"$1" | tr -d '\n' | sed 's/ 000/\
/g' | sed 's/ /\\0/g'
}

# Adds the variables of the previous install that this one does not name, and takes from all of them those that this
# script needs itself.
gather() {
  if [ "$clear" = no ] && [ -f "$root/etc/environment" ]; then
    mv "$variables" "$private/given"
    octal "$root/etc/environment" >"$private/octal"
    while IFS= read -r entry; do
      # \0075 is `=`.
      name=$(printf '%b' "${entry%%\\0075*}")
      case $name in
        HEADGATE_ENDPOINT | HEADGATE_DEPLOYMENT_ID | HEADGATE_FLEET_TOKEN | HEADGATE_FLEET_TOKEN_FILE) continue ;;
        HEADGATE_COLLECTOR | HEADGATE_STORAGE | HEADGATE_PLATFORM) continue ;;
      esac
      case $names in
        *" $name "*) continue ;;
      esac
      case $name in
        HEADGATE_HEALTH_ENDPOINT) health=$(printf '%b' "${entry#*\\0075}") ;;
        *) printf '%b\0' "$entry" ;;
      esac
    done <"$private/octal" >"$variables"
    cat "$private/given" >>"$variables"
  fi
  health=${health:-127.0.0.1:13143}
  octal "$variables" >"$private/octal"
  while IFS= read -r entry; do
    said=$(printf '%b' "$entry")
    case $said in
      # sudo drops the caller's variables, and this script needs the proxy and certificates as the supervisor does.
      HTTPS_PROXY=* | https_proxy=* | NO_PROXY=* | no_proxy=* | SSL_CERT_FILE=*) export "${said?}" ;;
    esac
  done <"$private/octal"
  case $health in
    :*) probe=127.0.0.1$health ;;
    *) probe=$health ;;
  esac
}

# place NAME FILE SHA256 PACKED ARGUMENT: fetch a program unless it is installed already, and try it with ARGUMENT first.
place() {
  name=$1 file=$2 sha256=$3 packed=$4 try=$5
  [ -n "$sha256" ] || fail "this server has no $file to install; its operator runs \`make publish-install\`"
  if [ -x "$root/bin/$name" ] && [ "$(cat "$root/bin/.$name.sha256" 2>/dev/null)" = "$sha256" ]; then
    return
  fi
  say "Fetching $file ..."
  code=0
  get "$base/$file?$query" "$work/$file" || code=$?
  case $code in
    0) ;;
    23) fail "$file could not be written under $root: make room on its disk, and run this again; nothing was changed" ;;
    *) fail "$file could not be fetched (curl $code); if the command is older than an hour, compose a new one" ;;
  esac
  seen=$(checksum "$work/$file")
  [ "$seen" = "$sha256" ] || fail "$file is not what was published: its SHA-256 is $seen, not $sha256; nothing was changed"
  if [ "$packed" = gz ]; then
    gzip -dc <"$work/$file" >"$work/$name" ||
      fail "$file could not be unpacked under $root: make room on its disk, and run this again; nothing was changed"
    rm -f "$work/$file"
  else
    mv "$work/$file" "$work/$name"
  fi
  chmod 755 "$work/$name"
  "$work/$name" "$try" >/dev/null || fail "$name does not run from $root on this host; nothing was changed"
  record file "bin/$name"
  record file "bin/.$name.sha256"
  # The file of a running program cannot be written to, but it can be replaced.
  replace "$work/$name" "bin/$name"
  printf '%s\n' "$sha256" >"$work/sha256"
  replace "$work/sha256" "bin/.$name.sha256"
  changed=yes
}

# Adds the secrets that are stored with the deployment to the variables. The server seals them for the key of this host, which
# the supervisor makes here.
unseal() {
  key=$("$root/bin/headgate-supervisor" key "$root/var") ||
    fail "the supervisor could not make a key for this host; the server's operator may have to publish a newer one"
  set -- "$base/secrets?$query" -o "$work/sealed"
  case $base in
    https:*) set -- --proto =https --tlsv1.2 "$@" ;;
  esac
  # On standard input, because every user sees the arguments of processes.
  printf 'header = "%s"\n' "Authorization: Bearer $token" "X-Install-Code: $secrets" "X-Host-Key: $key" |
    curl -fsS --retry 3 --connect-timeout 30 -X POST --config - "$@" ||
    fail "the secrets that are stored with the deployment could not be fetched: compose a new command; after an import, set them again first"
  "$root/bin/headgate-supervisor" unseal "$root/var" <"$work/sealed" >"$private/secrets" ||
    fail "the secrets that are stored with the deployment could not be opened on this host"
  cat "$private/secrets" >>"$variables"
}

# get URL FILE: without a limit of time as long as data arrives.
get() {
  case $1 in
    https:*) set -- --proto =https --tlsv1.2 "$1" -o "$2" ;;
    *) set -- "$1" -o "$2" ;;
  esac
  curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1024 --speed-time 60 "$@"
}

# Keeps a second run of this script out of the folder.
alone() {
  command -v flock >/dev/null || return 0
  exec 9<"$root"
  flock -n 9 || fail "another run of this script is at work in $root"
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

# put PATH MODE: replace a file under the root by the file of that name in the work folder.
put() {
  new=$work/${1##*/}
  chmod "$2" "$new"
  record file "$1"
  if [ ! -L "$root/$1" ] && cmp -s "$new" "$root/$1"; then
    rm -f "$new"
    chmod "$2" "$root/$1"
  else
    replace "$new" "$1"
    changed=yes
  fi
}

unit_file() {
  printf '%s' "${SYSTEMD_UNITS:-/etc/systemd/system}/$unit.service"
}

# Prints the folder that the installed service runs from; nothing if there is no service.
service_root() {
  sed -n 's/^Environment=HEADGATE_ROOT=//p' "$(unit_file)" 2>/dev/null || :
}

home_of_account() {
  if command -v getent >/dev/null; then
    getent passwd "$account" | cut -d : -f 6
  else
    sed -n "s/^$account:.*:\\([^:]*\\):[^:]*$/\\1/p" /etc/passwd
  fi
}

# With SELinux enforcing, a service may start only files that are labelled as programs.
label() {
  command -v selinuxenabled >/dev/null && selinuxenabled || return 0
  chcon -t bin_t "$root/bin/headgate-supervisor" "$root/bin/otelcol-contrib" ||
    say "The programs could not be labelled for SELinux; if the service cannot start them, that is the reason."
  restorecon "$(unit_file)" || :
}

start_service() {
  if ! id "$account" >/dev/null 2>&1; then
    useradd --system --no-create-home --home-dir "$root/var" --shell /usr/sbin/nologin "$account"
    record user "$account"
  fi
  chown -R -h "$account" "$root/etc" "$root/var"
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
# The supervisor stops its collector; what still runs after half a minute is killed.
KillMode=mixed
TimeoutStopSec=30
LimitNOFILE=65536

# A collector reads every user's logs and listens on low ports; it needs no other right of root.
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
  record unit "$(unit_file)"
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
  wait_until_healthy ||
    fail "the supervisor did not become ready: $(journalctl -u "$unit" -n 50 -o cat --no-pager 2>/dev/null | reason);" \
      "the rest is in journalctl -u $unit"
}

# Starts the supervisor again unless it was stopped in order, or the pid file names another one, or none, by then.
# shellcheck disable=SC2016 # It is expanded by the shell that runs it.
watch='
while :; do
  "$1" --environment "$2" & pid=$!
  echo "$pid" >"$3"
  code=0
  wait "$pid" || code=$?
  [ "$code" != 0 ] || exit 0
  sleep 5
  [ "$(cat "$3" 2>/dev/null)" = "$pid" ] || exit 0
  echo "headgate: the supervisor ended with code $code, and is started again"
done'

start_process() {
  if [ -s "$root/var/supervisor.pid" ] && running && [ "$changed" = no ]; then
    say "Up to date, and running as process $pid."
    return
  fi
  stop_process
  [ ! -f "$root/var/supervisor.log" ] || replace "$root/var/supervisor.log" var/supervisor.log.1
  umask 077
  # The person's own, which a configuration could send anywhere. A service has no environment of a person.
  unset SERVICE_API_TOKEN HEADGATE_READ_TOKEN
  nohup /bin/sh -c "$watch" headgate-watchdog "$root/bin/headgate-supervisor" "$root/etc/environment" \
    "$root/var/supervisor.pid" </dev/null >>"$root/var/supervisor.log" 2>&1 9<&- &
  umask 022
  tries=0
  while [ ! -s "$root/var/supervisor.pid" ] && [ "$tries" -lt 120 ]; do
    tries=$((tries + 1))
    pause
  done
  wait_until_healthy || {
    tail -n 20 "$root/var/supervisor.log" >&2
    why=$(tail -n 50 "$root/var/supervisor.log" | reason)
    stop_process
    fail "the supervisor did not become ready: $why; the rest is in $root/var/supervisor.log"
  }
  say "Running as process $pid; its log is $root/var/supervisor.log"
  say "It is started again if it ends, but not after a reboot of this host: then run this command again. A systemd" \
    "service starts by itself"
}

# reason: prints the last line of a log that tells of an error, or else its last line.
reason() {
  # Without what the loop around a process says.
  grep -v 'is started again$' >"$work/log" || :
  said=$(grep -iE 'error|fatal|panic|cannot|failed|must be' "$work/log" | tail -n 1)
  said=${said:-$(tail -n 1 "$work/log")}
  printf '%s' "${said:-it has logged nothing}" | cut -c 1-500
}

wait_until_healthy() {
  tries=0
  while [ "$tries" -lt 120 ]; do
    if curl -fsS --noproxy '*' "http://$probe/health" >/dev/null 2>&1; then
      # Another supervisor may have answered, while ours exits because it cannot listen there.
      pause
      if alive; then return 0; fi
    fi
    # On a busy host the process may not have become the supervisor yet; one that has ended has no program.
    if [ "$systemd" = no ] && ! running && [ -z "$(readlink "/proc/$pid/exe" 2>/dev/null || :)" ]; then return 1; fi
    tries=$((tries + 1))
    pause
  done
  return 1
}

# resolves NAME: whether the host knows its address; without getent, whether /etc/hosts names it.
resolves() {
  if command -v getent >/dev/null; then
    getent hosts "$1" >/dev/null
  else
    grep -Eq "^[^#]*[[:space:]]$1([[:space:]]|\$)" /etc/hosts
  fi
}

# Headgate refuses a token that was renewed or has expired before it reads a message. The token is in no process's words.
require_token() {
  unreached=''
  code=$(printf 'header = "Authorization: Bearer %s"\n' "$token" | curl -K - -s -o /dev/null -w '%{http_code}' \
    --connect-timeout 30 --max-time 60 -H "X-Deployment-Id: $deployment_id" \
    -H 'Content-Type: application/x-protobuf' --data-binary '' "$endpoint") || unreached=$?
  case $unreached in
    '') ;;
    5 | 6) fail "the address of $endpoint is not known on this host (curl $unreached); check its DNS, or HTTPS_PROXY in env" ;;
    35 | 51 | 58 | 59 | 60 | 77 | 80) fail "the certificate of $endpoint is not accepted on this host (curl $unreached);" \
      "name its authority with SSL_CERT_FILE in env" ;;
    *) fail "$endpoint does not answer from this host (curl $unreached); check its firewall, or HTTPS_PROXY in env" ;;
  esac
  case $code in
    401 | 403) fail "Headgate does not accept the token (HTTP $code): it was renewed, or has expired;" \
      "compose a new command" ;;
  esac
}

# Whether nothing listens at the health endpoint: curl exits with 7 if the connection is refused.
free() {
  code=0
  curl -s -o /dev/null --noproxy '*' --max-time 5 "http://$probe/health" || code=$?
  [ "$code" = 7 ]
}

# Whether the supervisor of this folder runs, as a service or as a process, whichever was asked for.
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

# Whether the process of the pid file is our supervisor, and not another one with a reused number.
running() {
  pid=$(cat "$root/var/supervisor.pid" 2>/dev/null || :)
  supervises "$pid" && return 0
  # A service has no such file. Without one, it may have been removed while the process runs.
  [ "$systemd" = no ] && [ ! -e "$root/var/supervisor.pid" ] || return 1
  for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    supervises "$pid" || continue
    # A process that becomes the collector has a supervisor as its parent.
    supervises "$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status" 2>/dev/null || :)" || return 0
  done
  pid=
  return 1
}

supervises() {
  [ -n "$1" ] || return 1
  case $(readlink "/proc/$1/exe" 2>/dev/null || :) in
    # After its program was replaced, the kernel adds "(deleted)".
    "$root/bin/headgate-supervisor" | "$root/bin/headgate-supervisor (deleted)") return 0 ;;
    *) return 1 ;;
  esac
}

stop_process() {
  stopped=
  running && stopped=$pid
  # So that its watchdog does not start it again. Somebody may have put a folder there.
  [ ! -f "$root/var/supervisor.pid" ] || rm -f "$root/var/supervisor.pid"
  [ -n "$stopped" ] || return 0
  kill "$stopped" || ! supervises "$stopped" ||
    fail "this user cannot stop process $stopped; run this as the user who started it"
  tries=0
  while supervises "$stopped"; do
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || { kill -9 "$stopped" || :; break; }
    pause
  done
}

# Removes the files that the folder's list names, and its folders if they are empty then.
remove() {
  if [ ! -e "$root" ]; then
    # The folder may have been removed by hand, but not its service.
    if [ "$(service_root)" = "$root" ]; then remove_service; fi
    say "Nothing is installed in $root."
    return
  fi
  alone
  ours || earlier || fail "Headgate is not installed in $root; nothing was removed"
  [ -w "$root" ] || fail "$root belongs to another user; run this as that user, or with sudo"
  # An install of before 2026-11-22 has no list yet.
  adopt
  # The supervisor then says that the host does not come back. A folder: the account that owns var cannot lead it elsewhere.
  if inside var/; then mkdir "$root/var/uninstalled" 2>/dev/null || :; fi
  if [ "$(service_root)" = "$root" ]; then remove_service; fi
  stop_process
  while IFS=' ' read -r kind name; do
    case /$name/ in
      */../* | */./* | *//*) continue ;;
    esac
    case $kind in
      file) remove_file "$name" ;;
      tree) remove_tree "$name" ;;
    esac
  done <"$root/$listing"
  rm -rf "$root"/.installing-*
  # Temporary files of a supervisor that was killed.
  if inside var/; then rmdir "$root/var/uninstalled" 2>/dev/null || :; fi
  if inside var/; then rm -f "$root"/var/identity.json-* "$root"/var/host-key.json-* "$root"/var/headgate-*.json-* "$root"/var/validate-config-*.yaml; fi
  # Files that are left in these folders are somebody else's.
  for name in bin etc var; do
    ! grep -qxF "folder $name" "$root/$listing" || rmdir "$root/$name" 2>/dev/null || :
  done
  whole=no
  if grep -qxF 'folder .' "$root/$listing"; then whole=yes; fi
  rm -f "$root/$listing"
  [ "$whole" = no ] || rmdir "$root" 2>/dev/null || :
  if [ -e "$root" ] && ! unused; then
    say "Removed from $root. The files that are left there are not part of this install."
  else
    say "Removed from $root."
  fi
}

# Whether every folder on the way to a name under the root is a folder, not a link that leads out of it.
inside() {
  on_the_way=''
  left=$1
  while [ "$left" != "${left#*/}" ]; do
    on_the_way=$on_the_way/${left%%/*} left=${left#*/}
    [ -d "$root$on_the_way" ] && [ ! -L "$root$on_the_way" ] || return 1
  done
}

remove_file() {
  inside "$1" || return 0
  # A folder of that name is not part of this install.
  if [ -L "$root/$1" ] || [ ! -d "$root/$1" ]; then rm -f "$root/$1"; fi
}

remove_tree() {
  inside "$1" && [ -d "$root/$1" ] && [ ! -L "$root/$1" ] || return 0
  while read -r _ _ _ _ at _; do
    at=$(printf '%b' "$at")
    case $at/ in
      "$root/$1/"*) say "$at is another file system, so $root/$1 was not removed."; return 0 ;;
    esac
  done </proc/self/mountinfo
  # Nothing can be written into the folder of a program.
  chmod -R u+w "${root:?}/${1:?}"
  rm -rf "${root:?}/${1:?}"
}

remove_service() {
  [ "$(id -u)" = 0 ] || fail "removing the service needs root; use sudo"
  systemctl disable --now --quiet "$unit" || :
  rm -f "$(unit_file)"
  systemctl daemon-reload
  if grep -qsxF "user $account" "$root/$listing" || { [ ! -e "$root" ] && [ "$(home_of_account)" = "$root/var" ]; }; then
    userdel "$account" || :
  fi
}

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'headgate: %s\n' "$*" >&2
  exit 1
}

# Called on the last line, so that a partial download does nothing.
main "$@"
