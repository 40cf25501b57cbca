#!/bin/sh
# Starts one parley node in a container. Words:
#
#   found   make the shared record, where it is not there yet, and this host in it
#   join    wait until the record is there, and join it
#
# Both do so at the first start only, from the settings laid ready in PARLEY_FROM
# (config.yaml, agents/*.yaml), and then run the node; later starts only run it.
# Any other words are given to parley.
set -eu

from=${PARLEY_FROM:-/etc/parley}
tries=${PARLEY_TRIES:-60} # two seconds each: the founder may be slow

# The remote, as config.yaml says it.
record() { sed -n 's/^remote: *"\{0,1\}\([^" ]*\)"\{0,1\} *$/\1/p' "$from/config.yaml"; }

case ${1:-} in
found | join) ;;
*) exec parley "$@" ;;
esac

if [ ! -e "$PARLEY_HOME/config.yaml" ]; then
	if [ -e "$PARLEY_HOME" ]; then # a first start that was cut off: nobody has heard of it yet
		mv "$PARLEY_HOME" "$PARLEY_HOME.unfinished-$(date +%s)"
	fi
	case $1 in
	found)
		if [ ! -e "$(record)/HEAD" ]; then
			git init --quiet --bare --initial-branch=main "$(record)"
		fi
		parley init --from "$from"
		;;
	join)
		until parley join --from "$from"; do
			tries=$((tries - 1))
			if [ "$tries" -le 0 ]; then
				echo "entrypoint: there is nothing to join at $(record)" >&2
				exit 1
			fi
			sleep 2
		done
		;;
	esac
fi
exec parley up
