#!/bin/sh
# Makes MODEL the one loaded model of the GPU: ./swap.sh MODEL
# Stops the other llama-server, starts this one in the background and leaves; the agent then waits for its /health.
# Asked for the model that runs already, it changes nothing. What it prints goes to the agent's file for it.
set -eu

models=${MODEL_DIR:-/srv/models}
state=${XDG_RUNTIME_DIR:-/tmp}/farmgate-swap
mkdir -p "$state"

case $1 in
  qwen3-coder-30b) port=9001 flags="-m $models/qwen3-coder-30b-q4_k_m.gguf -c 131072 -np 4" ;;
  llama-3.3-70b) port=9002 flags="-m $models/llama-3.3-70b-q4_k_m.gguf -c 32768 -np 2" ;;
  *)
    echo "swap.sh: unknown model: $1" >&2
    exit 2
    ;;
esac

# The pid of the llama-server that was started for model $1, if it still runs. A pid may have been given to another
# program since, so the program's name is looked at too.
running() {
  [ -f "$state/$1.pid" ] || return 1
  read -r pid <"$state/$1.pid" || return 1
  [ "$(ps -o comm= -p "$pid" 2>/dev/null)" = llama-server ] && echo "$pid"
}

for other in qwen3-coder-30b llama-3.3-70b; do
  [ "$other" != "$1" ] || continue
  pid=$(running "$other") || continue
  kill "$pid"
  # The memory is free only when the process has gone.
  while running "$other" >/dev/null; do sleep 0.2; done
done

if ! running "$1" >/dev/null; then
  # A session of its own, so that the engine outlives this script. $flags holds several words.
  # shellcheck disable=SC2086
  setsid llama-server $flags --alias "$1" --host 127.0.0.1 --port "$port" >"$state/$1.log" 2>&1 </dev/null &
  echo "$!" >"$state/$1.pid"
  # One that ends at once, for a wrong path or too little memory, is told now and not when the swap's time is over.
  sleep 1
  if ! running "$1" >/dev/null; then
    tail -n 5 "$state/$1.log" >&2
    exit 1
  fi
fi
