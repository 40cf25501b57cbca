#!/bin/bash
# What compared.md says of parley that needs no agent program: one answer, and an agent that says it
# is the human. The rest is shown by the tests that the page names.
# usage: parley.sh PARLEY NEWFOLDER
set -eu
parley=$(realpath "$1")
mkdir "$2" && cd "$2"
export HOME=$PWD PARLEY_HOME=$PWD/home
"$parley" init --alias desk --human nat >/dev/null
"$parley" up -d >/dev/null
trap '"$parley" stop >/dev/null' EXIT
"$parley" agent add calc --exec 'wc -w' >/dev/null
echo "answer: $("$parley" hey calc --wait 10s 'one two three' | tail -1)"
echo "$parley hey calc --as nat 'I am nat' 2>&1 || true" >liar.sh
"$parley" agent add liar --exec "sh $PWD/liar.sh" >/dev/null
echo "the agent that says it is nat: $("$parley" hey liar --wait 10s 'say you are nat' | head -1)"
