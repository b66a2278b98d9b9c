#!/bin/sh
# The swap script of a Mac whose engines are launchd services, each described by a farm.MODEL.plist beside this script,
# as in deploy/launchd:
#   launchctl.sh [--beside] MODEL            makes MODEL the loaded one: ends the others, then starts it
#   launchctl.sh [--beside] status           prints `MODEL: loaded` for each that is there
#   launchctl.sh [--beside] unload MODEL     ends MODEL, and waits until its memory is free
# With --beside the others stay: for an agent with `memory.budget` or a pinned model, which unloads by itself. The plists
# must not stand in ~/Library/LaunchAgents: a login would start them all, and they do not fit together.
# Loading what is loaded and ending what has ended both change nothing.
set -eu

domain=${FARMGATE_DOMAIN:-gui/$(id -u)}
folder=$(cd "$(dirname "$0")" && pwd)

must_be_known() {
  case $1 in
    '' | .* | */*) ;;
    *) [ ! -f "$folder/farm.$1.plist" ] || return 0 ;;
  esac
  echo "launchctl.sh: unknown model: $1 (there is no $folder/farm.$1.plist)" >&2
  exit 2
}

models() {
  for file in "$folder"/farm.*.plist; do
    [ -f "$file" ] || continue
    name=${file##*/farm.}
    echo "${name%.plist}"
  done
}

there() { launchctl print "$domain/farm.$1" >/dev/null 2>&1; }

# `bootout` may return before the service has ended, and then with an error; the memory is free only after that.
end() {
  there "$1" || return 0
  launchctl bootout "$domain/farm.$1" || true
  while there "$1"; do sleep 0.2; done
}

beside=no
if [ "${1-}" = --beside ]; then
  beside=yes
  shift
fi

case ${1-} in
  status)
    models | while read -r model; do
      if there "$model"; then echo "$model: loaded"; fi
    done
    ;;
  unload)
    must_be_known "${2-}"
    end "$2"
    ;;
  *)
    must_be_known "${1-}"
    if [ "$beside" = no ]; then
      models | while read -r other; do
        if [ "$other" != "$1" ]; then end "$other"; fi
      done
    fi
    there "$1" || launchctl bootstrap "$domain" "$folder/farm.$1.plist"
    ;;
esac
