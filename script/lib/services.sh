# Starting and stopping what script/server, script/demo and script/peers run; sourced after common.sh.
# Whatever is started here is stopped by stop_services, in the reverse order, and nothing else is.
# shellcheck shell=bash disable=SC2034,SC2154

service_names=() service_pids=()
postgres_dir='' # set while a cluster that this run started is up

# start_service NAME LOG COMMAND...: in the background, output to LOG, process id in the file beside it.
# A session of its own keeps Ctrl-C for this script, which stops things in order; if the script itself is killed, the
# kernel sends SIGTERM instead.
start_service() {
  local name=$1 log=$2
  shift 2
  # Here and not in the child alone: what a former run said must be gone before anybody waits for it.
  : >"$log"
  setsid setpriv --pdeathsig TERM "$@" >"$log" 2>&1 </dev/null &
  service_names+=("$name") service_pids+=($!)
  printf '%s\n' "$!" >"${log%.log}.pid"
}

# await_service LOG PATTERN SECONDS: until the service started last says that it is ready.
await_service() {
  local name=${service_names[-1]} pid=${service_pids[-1]}
  if ! wait_for_line "$pid" "$1" "$2" "$3"; then
    tail -n 20 "$1" >&2
    die "$name is not ready after $3 s or has ended; its output is above and in $1"
  fi
}

# start_postgres DIR: prints nothing, sets database_url. A cluster that is already up stays up at the end.
start_postgres() {
  if database_url=$("$root/script/dev-postgres" status "$1" 2>/dev/null); then return; fi
  postgres_dir=$1
  database_url=$("$root/script/dev-postgres" start "$1") || die 'the database did not start'
}

# Asks each service to end, waits, and ends it by force after 20 seconds.
stop_services() {
  local i pid deadline
  for ((i = ${#service_pids[@]} - 1; i >= 0; i--)); do
    pid=${service_pids[i]}
    kill -TERM "$pid" 2>/dev/null || continue
    deadline=$((SECONDS + 20))
    while kill -0 "$pid" 2>/dev/null; do
      if [ "$SECONDS" -ge "$deadline" ]; then
        say "${service_names[i]} (pid $pid) did not end within 20 s: killing it"
        kill -KILL "$pid" 2>/dev/null || true
        break
      fi
      sleep 0.05
    done
    wait "$pid" 2>/dev/null || true
  done
  service_names=() service_pids=()
  if [ -n "$postgres_dir" ]; then
    "$root/script/dev-postgres" stop "$postgres_dir" || say "the database in $postgres_dir did not stop"
    postgres_dir=''
  fi
}

# Signals: on_signal is the caller's trap. A step in progress is finished, or ended when it runs under `interruptible`; once
# `waiting` is set the script exits at once. A signal is remembered in `stopping`, so none is lost between two commands.
stopping='' waiting='' interruptible_pid=''
on_signal() {
  stopping=1
  [ -z "$interruptible_pid" ] || kill -TERM "$interruptible_pid" 2>/dev/null || true
  [ -z "$waiting" ] || exit 1
}
still_wanted() { [ -z "$stopping" ] || die 'interrupted'; }

# Runs a long command so that a signal ends it.
interruptible() { with_input "$@" </dev/null; }

# The same for one that reads this script's input.
with_input() {
  local status=0
  # Said, or the shell would give a command in the background no input.
  "$@" <&0 &
  interruptible_pid=$!
  [ -z "$stopping" ] || kill -TERM "$interruptible_pid" 2>/dev/null || true
  wait "$interruptible_pid" || status=$?
  if [ -n "$stopping" ]; then wait "$interruptible_pid" 2>/dev/null || true; fi
  interruptible_pid=''
  still_wanted
  return "$status"
}

# build_products debug|release PRODUCT...: sets `bin`, the folder of the executables. What is newer than every source is not
# built again: even finding that out takes SwiftPM a second each.
build_products() {
  local configuration=$1 product linking=()
  shift
  bin=$root/.build/$configuration
  # As it is deployed (deploy/README.md): a call into the runtime is a plain call then, and the broker needs a twentieth less.
  [ "$configuration" = debug ] || linking=(--static-swift-stdlib)
  for product in "$@"; do
    if [ -x "$bin/$product" ] &&
      [ -z "$(find "$root/Package.swift" "$root/Sources" -newer "$bin/$product" -print -quit)" ]; then continue; fi
    say "building $product ($configuration)"
    interruptible swift build --package-path "$root" -c "$configuration" "${linking[@]}" --product "$product" >&2 ||
      die "building $product failed"
  done
}

# --- Certificates ------------------------------------------------------------------------------------------------------
still_good() { openssl x509 -in "$1" -noout -checkend "$2" >/dev/null 2>&1; }

# make_certificates DIR NAME...: DIR/ca.pem, and for each NAME DIR/NAME.pem with DIR/NAME.key, for loopback only. Those with
# time left are kept: a month for the authority, a week for the others.
make_certificates() {
  local dir=$1 name
  shift
  (
    umask 077
    mkdir -p "$dir"
    cd "$dir"
    if ! still_good ca.pem $((30 * 86400)) || [ ! -s ca.key ]; then
      say 'making a development certificate authority'
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout ca.key -out ca.pem \
        -subj '/CN=Token broker development authority' -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' \
        -addext 'keyUsage=critical,keyCertSign,cRLSign' 2>openssl.log || die "openssl failed: see $dir/openssl.log"
      rm -f -- *.req
      for name in "$@"; do rm -f "$name.pem"; done
    fi
    for name in "$@"; do
      if still_good "$name.pem" $((7 * 86400)) && openssl verify -CAfile ca.pem "$name.pem" >/dev/null 2>&1 &&
        [ -s "$name.key" ]; then continue; fi
      printf '%s\n' 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1' 'basicConstraints=critical,CA:FALSE' \
        'keyUsage=critical,digitalSignature' 'extendedKeyUsage=serverAuth' \
        'subjectKeyIdentifier=hash' 'authorityKeyIdentifier=keyid' >"$name.ext"
      {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out "$name.req" \
          -subj "/CN=Token broker development $name" &&
          openssl x509 -req -in "$name.req" -CA ca.pem -CAkey ca.key -days 90 -extfile "$name.ext" \
            -set_serial "0x$(openssl rand -hex 16)" -out "$name.pem"
      } 2>openssl.log || die "openssl failed: see $dir/openssl.log"
      rm "$name.req" "$name.ext"
    done
    rm -f openssl.log
  ) || exit
}
