#!/bin/sh
# The swap script of a Linux machine whose engines are systemd units, llama-server@MODEL by deploy/systemd:
#   systemd.sh [--beside] MODEL            makes MODEL the loaded one: stops the others, then starts it
#   systemd.sh [--beside] status           prints `MODEL: loaded` for each that runs
#   systemd.sh [--beside] unload MODEL     stops MODEL, and ends when its memory is free
# With --beside the others stay: for an agent with `memory.budget` or a pinned model, which unloads by itself. A model is
# known when /etc/farmgate/engines/MODEL.env is there. Starting what runs and stopping what is stopped change nothing.
# FARMGATE_SYSTEMCTL="systemctl --user" is for units of a user, and FARMGATE_ENGINES for another folder.
set -eu

systemctl=${FARMGATE_SYSTEMCTL:-systemctl}
engines=${FARMGATE_ENGINES:-/etc/farmgate/engines}

unit() { printf 'llama-server@%s.service' "$1"; }

# Only what names a file of the folder: nothing of a path, and nothing that systemd would read in its own way.
known() {
  case $1 in
    '' | .* | *[!A-Za-z0-9._:-]*) return 1 ;;
  esac
  [ -f "$engines/$1.env" ]
}

must_be_known() {
  known "$1" && return
  echo "systemd.sh: unknown model: $1 (there is no $engines/$1.env)" >&2
  exit 2
}

models() {
  for file in "$engines"/*.env; do
    [ -f "$file" ] && basename "$file" .env
  done
}

# The words of $systemctl are its own.
# shellcheck disable=SC2086
control() { $systemctl "$@"; }

running() { control is-active --quiet "$(unit "$1")"; }

beside=no
if [ "${1-}" = --beside ]; then
  beside=yes
  shift
fi

case ${1-} in
  status)
    for model in $(models); do
      if running "$model"; then echo "$model: loaded"; fi
    done
    ;;
  unload)
    must_be_known "${2-}"
    control stop "$(unit "$2")"
    ;;
  *)
    must_be_known "${1-}"
    if [ "$beside" = no ]; then
      for other in $(models); do
        # Also one that is between two tries to start. `stop` returns when its process has gone, and its memory with it.
        if [ "$other" != "$1" ]; then control stop "$(unit "$other")"; fi
      done
    fi
    # What failed too often is started again all the same: the agent counts failures itself.
    control reset-failed "$(unit "$1")" 2>/dev/null || true
    control start "$(unit "$1")"
    # One that ends at once, for a wrong path or too little memory, is told now and not when the swap's time is over.
    sleep "${FARMGATE_SETTLE:-1}"
    if ! running "$1"; then
      control status --no-pager --lines=5 "$(unit "$1")" >&2 || true
      exit 1
    fi
    ;;
esac
