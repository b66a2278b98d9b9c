#!/bin/sh
# Makes MODEL the one loaded model: ./swap.sh MODEL
# Stops the engine of the other model, starts MODEL's in the background and leaves at once; the caller waits for
# its /health. Asked for a model that runs already, it does nothing. The agent runs one swap at a time.
#
#   ./swap.sh status         prints "MODEL: loaded" for the model that runs
#   ./swap.sh unload MODEL   stops MODEL's engine
#
# REAL_ENGINE_STATE                       folder for pid files, engine logs and swaps.log (must be set)
# FARMGATE_TEST_MODEL                     the GGUF file (must be set to start an engine)
# FARMGATE_URL                            where MODEL will answer; the agent sets it
# REAL_ENGINE_PORT_A, REAL_ENGINE_PORT_B  the ports of story-a and story-b where FARMGATE_URL is not set
set -eu

models="story-a story-b"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
state=${REAL_ENGINE_STATE:?set it to a folder for pid files and logs}
mkdir -p "$state"

fail() {
  echo "swap.sh: $2" >&2
  exit "$1"
}

# Prints the pid of model $1's engine if it runs. The command line is compared too: a pid may have been given to
# another process since the file was written.
running() {
  [ -f "$state/$1.pid" ] || return 1
  read -r pid <"$state/$1.pid" || return 1
  [ -r "/proc/$pid/cmdline" ] || return 1
  case " $(tr '\0' ' ' <"/proc/$pid/cmdline")" in
    *" $here/serve.mjs "*" --name $1 "*) echo "$pid" ;;
    *) return 1 ;;
  esac
}

stop() {
  if pid=$(running "$1"); then
    kill -TERM "$pid" 2>/dev/null || :
    tries=0
    while running "$1" >/dev/null; do
      tries=$((tries + 1))
      if [ "$tries" -eq 50 ]; then kill -KILL "$pid" 2>/dev/null || :; fi
      [ "$tries" -lt 100 ] || fail 1 "the engine of $1 (pid $pid) does not stop"
      sleep 0.1
    done
  fi
  rm -f "$state/$1.pid"
}

known() {
  case " $models " in
    *" $1 "*) ;;
    *) fail 2 "unknown model: $1" ;;
  esac
}

start() {
  [ -f "${FARMGATE_TEST_MODEL:-}" ] || fail 1 "FARMGATE_TEST_MODEL names no file"
  case $1 in
    story-a) port=${REAL_ENGINE_PORT_A:-9311} ;;
    story-b) port=${REAL_ENGINE_PORT_B:-9312} ;;
  esac
  if [ -n "${FARMGATE_URL:-}" ]; then
    port=${FARMGATE_URL##*:}
    port=${port%%/*}
  fi
  # A session of its own, so that the engine outlives this script and its process group.
  setsid nohup node "$here/serve.mjs" --model "$FARMGATE_TEST_MODEL" --name "$1" --port "$port" \
    >>"$state/$1.log" 2>&1 </dev/null &
  echo "$!" >"$state/$1.pid"
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1 pid=$! port=$port previous=${FARMGATE_PREVIOUS:-}" >>"$state/swaps.log"
}

case ${1:-${FARMGATE_MODEL:-}} in
  '')
    fail 2 "usage: swap.sh MODEL | status | unload MODEL"
    ;;
  status)
    for model in $models; do
      if running "$model" >/dev/null; then echo "$model: loaded"; fi
    done
    ;;
  unload)
    known "${2:-}"
    stop "$2"
    ;;
  *)
    model=${1:-$FARMGATE_MODEL}
    known "$model"
    for other in $models; do
      if [ "$other" != "$model" ]; then stop "$other"; fi
    done
    if ! running "$model" >/dev/null; then start "$model"; fi
    ;;
esac
