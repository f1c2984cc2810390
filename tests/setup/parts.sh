# The system packages of the tests. Root on Debian gets them; a person is asked; each one that is missing is named.

declare -A part_of=(
  [docker.io]="dockerd" [docker-compose]="docker-compose" [redis-server]="redis-server" [bubblewrap]="bwrap"
  [postgresql]="pg_ctlcluster" [chromium]="chromium" [debootstrap]="debootstrap" [python3-venv]="/usr/lib/python3*/ensurepip"
)

missing_parts() {
  local package program
  for package in "${!part_of[@]}"; do
    program=${part_of[$package]}
    command -v "$program" >/dev/null || compgen -G "$program" >/dev/null || echo "$package"
  done | sort
}

install_parts() {
  local missing; missing=$(missing_parts | tr '\n' ' ')
  [ -z "${missing// /}" ] && return 0
  if ! command -v apt-get >/dev/null; then echo "Not here: $missing. The tests that need them are left out."; return 0; fi
  if [ "$(id -u)" = 0 ]; then apt_install "" $missing; return; fi
  echo "The tests want these Debian packages: $missing"
  if [ -t 0 ] && command -v sudo >/dev/null; then
    read -r -p "Install them with sudo apt-get? [y/N] " answer
    case $answer in y|Y|yes) apt_install sudo $missing; return;; esac
  fi
  echo "Going on without them; the tests that need them are left out, by name."
}

# A package's service must not start with it: the tests start their own servers.
apt_install() {
  local sudo=$1; shift
  echo "Installing $*"
  local policy=/usr/sbin/policy-rc.d ours=
  if [ ! -e $policy ]; then ours=1; printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null; $sudo chmod 755 $policy; fi
  $sudo env DEBIAN_FRONTEND=noninteractive sh -c \
    "apt-get update -q && apt-get install -y -q --no-install-recommends $* ca-certificates iptables cgroupfs-mount" >/tmp/prefill-apt.$$ 2>&1
  local status=$?
  [ $status = 0 ] || tail -20 /tmp/prefill-apt.$$
  rm -f /tmp/prefill-apt.$$
  [ -n "$ours" ] && $sudo rm -f $policy
  [ $status = 0 ] || echo "prefill: the packages could not be installed; apt-get says why above. Without a network this cannot work."
  return $status
}
