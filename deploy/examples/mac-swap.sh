#!/bin/sh
# Makes MODEL the one loaded model of this Mac: ./mac-swap.sh MODEL
# Each model is a launchd service, described by farm.MODEL.plist beside this script (farm.qwen3-8b.plist is one). They
# must not stand in ~/Library/LaunchAgents: a login would start them all, and they do not fit together.
# Loading what is loaded and stopping what is stopped both change nothing.
set -eu

domain=gui/$(id -u)
folder=$(cd "$(dirname "$0")" && pwd)

case $1 in
  qwen3-8b) other=gemma-3-12b ;;
  gemma-3-12b) other=qwen3-8b ;;
  *)
    echo "mac-swap.sh: unknown model: $1" >&2
    exit 2
    ;;
esac

known() { launchctl print "$domain/farm.$1" >/dev/null 2>&1; }

# `bootout` may return before the service has ended, and then with an error; the memory is free only after that.
if known "$other"; then
  launchctl bootout "$domain/farm.$other" || true
  while known "$other"; do sleep 0.5; done
fi
known "$1" || launchctl bootstrap "$domain" "$folder/farm.$1.plist"
