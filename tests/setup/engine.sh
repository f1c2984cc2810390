# A Docker engine for the tests, and the base image that stands in for the public one where nothing can be pulled.

engine_answers() { docker version >/dev/null 2>&1; }

# Starts dockerd if no engine answers and this is root; the tests that need one are left out (or fail, in CI) otherwise.
start_engine() {
  engine_answers && return 0
  if [ "$(id -u)" != 0 ] || ! command -v dockerd >/dev/null; then echo "No Docker engine answers."; return 1; fi
  mountpoint -q /sys/fs/cgroup || cgroupfs-mount
  engine_home=$(mktemp -d /tmp/prefill-engine-XXXXXX)
  dockerd --pidfile "$engine_home/pid" >"$engine_home/log" 2>&1 &
  engine_pid=$!
  for _ in $(seq 120); do
    engine_answers && return 0
    kill -0 $engine_pid 2>/dev/null || break
    sleep 0.5
  done
  echo "The Docker engine did not start:"; tail -5 "$engine_home/log"
  return 1
}

# Ends only the engine that start_engine started.
stop_engine() {
  [ -n "${engine_pid:-}" ] || return 0
  kill "$engine_pid" 2>/dev/null && wait "$engine_pid" 2>/dev/null
  rm -rf "$engine_home"
}

# PREFILL_BASE_IMAGE: a Debian made on this machine, with its certificates, so that pip works behind a proxy too.
# The engine keeps it under a tag that changes with this file.
base_image() {
  [ -n "${PREFILL_BASE_IMAGE:-}" ] && return 0
  local tag; tag=prefill-test-base:$(cat tests/setup/engine.sh /etc/ssl/certs/ca-certificates.crt | sha256sum | cut -c1-12)
  docker image inspect "$tag" >/dev/null 2>&1 || make_base_image "$tag" || return 1
  export PREFILL_BASE_IMAGE=$tag
}

make_base_image() {
  local root status; root=$(mktemp -d /tmp/prefill-base-XXXXXX)
  echo "Making the base image $1 (a minute, once)."
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" >"$root.log" 2>&1 &&
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" &&
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* &&
    tar -C "$root" -c . | docker import --change 'CMD ["bash"]' --change 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - "$1" >/dev/null
  status=$?
  [ $status = 0 ] || tail -5 "$root.log"
  rm -rf "$root" "$root.log"
  return $status
}
