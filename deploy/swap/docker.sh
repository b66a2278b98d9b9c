#!/bin/sh
# The swap script of a machine whose engines are containers. Each is made once, with its model as a label, and not
# started:
#   docker create --name vllm-coder --label farmgate.model=qwen3-coder-30b --gpus all -p 127.0.0.1:9001:8000 \
#     -v /srv/models:/models vllm/vllm-openai --model /models/qwen3-coder-30b --served-model-name qwen3-coder-30b
#
#   docker.sh [--beside] MODEL            makes MODEL the loaded one: stops the others, then starts it
#   docker.sh [--beside] status           prints `MODEL: loaded` for each that runs
#   docker.sh [--beside] unload MODEL     stops MODEL, and ends when its memory is free
# With --beside the others stay: for an agent with `memory.budget` or a pinned model, which unloads by itself.
# Starting what runs and stopping what is stopped change nothing. FARMGATE_DOCKER=podman is for another program.
set -eu

docker=${FARMGATE_DOCKER:-docker}
label=farmgate.model

# The containers of model $1, running or not. One that restarts without a pause must be stopped too.
containers() { "$docker" ps --all --quiet --filter "label=$label=$1"; }

must_be_known() {
  found=
  if [ -n "$1" ]; then found=$(containers "$1"); fi
  [ -z "$found" ] || return 0
  echo "docker.sh: unknown model: $1 (no container has the label $label=$1)" >&2
  exit 2
}

# `docker stop` returns when the container has ended, and its memory is free.
stop() {
  containers "$1" | while read -r container; do
    "$docker" stop --time "${FARMGATE_GRACE:-30}" "$container" >/dev/null
  done
}

beside=no
if [ "${1-}" = --beside ]; then
  beside=yes
  shift
fi

case ${1-} in
  status)
    "$docker" ps --filter "label=$label" --format "{{.Label \"$label\"}}: loaded"
    ;;
  unload)
    must_be_known "${2-}"
    stop "$2"
    ;;
  *)
    must_be_known "${1-}"
    if [ "$beside" = no ]; then
      "$docker" ps --filter "label=$label" --format "{{.Label \"$label\"}}" | while read -r other; do
        if [ "$other" != "$1" ]; then stop "$other"; fi
      done
    fi
    containers "$1" | while read -r container; do
      "$docker" start "$container" >/dev/null
    done
    ;;
esac
