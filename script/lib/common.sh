# Shared by the scripts beside this folder; sourced, never run.
# Sets `root` (the checkout) and gives: say, die, usage, as_root, wait_for_line, port_is_taken, free_port.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
self=${0##*/}
started=$SECONDS

# Exit codes, the same in every script: 1 the work failed, 2 wrong usage, 3 something is missing on this machine.
readonly exit_usage=2 exit_missing=3

# Progress, with the seconds since the script began, on standard error.
say() { printf '[%s %3ds] %s\n' "$self" $((SECONDS - started)) "$*" >&2; }

# die MESSAGE [EXIT_CODE]
die() {
  printf '%s: %s\n' "$self" "$1" >&2
  exit "${2:-1}"
}

# Prints the comment at the head of the calling script: what `--help` answers.
usage() { awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"; }

# For an unknown argument.
wrong_usage() {
  printf '%s: %s\n\n' "$self" "$1" >&2
  usage >&2
  exit "$exit_usage"
}

# Runs a command as root. sudo may ask for a password only where somebody can type it.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    die "needs root for: $* (no sudo here: run it as root, then this script again)" "$exit_missing"
  elif sudo -n true 2>/dev/null || [ -t 0 ]; then
    sudo "$@"
  else
    die "needs root for: $* (sudo would ask for a password and there is no terminal)" "$exit_missing"
  fi
}

# Whether something already listens on 127.0.0.1:PORT.
port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Debian's own Python where there is one, so that its venv module fits it.
python3_command() { if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi; }

# A loopback port nobody listens on, below those the kernel hands out by itself. Another process may take it before its user
# does: that is a failed start like any other taken port.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + SRANDOM % 12000))
    port_is_taken "$port" || { printf '%s\n' "$port"; return; }
  done
  die 'found no free port on 127.0.0.1'
}

# wait_for_line PID FILE PATTERN SECONDS: until FILE holds a line that matches, the process ended, or the time is up.
wait_for_line() {
  local pid=$1 file=$2 pattern=$3 deadline=$((SECONDS + $4))
  until grep -qE -- "$pattern" "$file" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || return 1
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}
