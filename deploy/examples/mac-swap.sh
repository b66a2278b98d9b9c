#!/bin/sh
# Makes MODEL the one loaded model of this Mac: ./mac-swap.sh MODEL
# Each model is a launchd agent ~/Library/LaunchAgents/farm.MODEL.plist that runs
#   mlx_lm.server --model NAME --host 127.0.0.1 --port PORT
# Loading what is loaded and stopping what is stopped both change nothing.
set -eu

domain=gui/$(id -u)
agents=$HOME/Library/LaunchAgents

case $1 in
  qwen3-8b) other=gemma-3-12b ;;
  gemma-3-12b) other=qwen3-8b ;;
  *)
    echo "mac-swap.sh: unknown model: $1" >&2
    exit 2
    ;;
esac

if launchctl print "$domain/farm.$other" >/dev/null 2>&1; then
  launchctl bootout "$domain/farm.$other"
fi
if ! launchctl print "$domain/farm.$1" >/dev/null 2>&1; then
  launchctl bootstrap "$domain" "$agents/farm.$1.plist"
fi
