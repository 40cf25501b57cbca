#!/bin/bash
# What compared.md says of crosstalk: one answer, a forged sender, and kill -9 during send.
# usage: crosstalk.sh RUNTIME NEWFOLDER
# RUNTIME is a checkout of cordfuse/crosstalk-runtime, built. Its dependency @cordfuse/turnq is no
# longer on npm: build tag v0.3.4 of cordfuse/turnq, then `npm install --no-package-lock TURNQ`.
set -eu
run=$(realpath "$1")/dist/runner.js
mkdir "$2" && cd "$2"
export GIT_CONFIG_GLOBAL=$PWD/gitconfig HOME=$PWD
git config --global user.name test
git config --global user.email test@example.org
git config --global init.defaultBranch main
git init -q --bare bare.git
git clone -q bare.git one 2>/dev/null
channel=data/channels/11111111-2222-4333-8444-555555555555
mkdir -p "one/$channel" && touch "one/$channel/.gitkeep"
git -C one add -A && git -C one commit -qm seed && git -C one push -q origin main
git clone -q bare.git two # the second machine
send() { node "$run" send --transport "$PWD/one" --from "$1" --to calc "$2"; }
answered() { git -C bare.git grep -q 'from: calc' main -- data; }

send nat 'before the daemon ever looked' >sent.log
node "$run" --transport "$PWD/two" --agent 'calc:wc -w' --interval 2 >daemon.log 2>&1 &
daemon=$!
trap 'kill $daemon' EXIT
until [ -d two/.cursor ]; do sleep 0.1; done
send nat 'one two three' >>sent.log # an agent may call itself nat as well: nothing is signed
for _ in $(seq 60); do answered && break; sleep 0.5; done
answered && echo "the second message is answered; nobody knows who $(git -C bare.git grep -h '^from: nat' main -- data | sort -u) was"
git -C bare.git grep -q '^ref:' main -- data && echo "answers: $(git -C bare.git grep -h '^type: read' main -- data | wc -l) of 2"

kill $daemon
wait $daemon 2>/dev/null || true
trap - EXIT
git -C one pull -q --rebase origin main # send never does
lost=0 left=0 stuck=0 n=0
for delay in $(seq 0.30 0.07 1.70); do
  n=$((n + 1))
  setsid node "$run" send --transport "$PWD/one" --from nat --to nobody "word $n." >sent.log 2>&1 &
  sleep "$delay"
  kill -9 -- -$! 2>/dev/null || true # node, and the git that it runs
  wait $! 2>/dev/null || true
  there() { git -C bare.git grep -q "word $n\." main -- data; }
  if there; then :
  elif grep -q '^sent' sent.log; then lost=$((lost + 1))
  elif grep -rq "word $n\." one/data; then left=$((left + 1)); fi
  if ! send nat "after $n." >again.log 2>&1; then
    stuck=$((stuck + 1))
    rm -f one/.git/*.lock one/.git/refs/heads/*.lock
  fi
done
echo "$n kills: $lost lost after 'sent', $left left in the clone unsent, $stuck times the next send failed"
echo "words in the repository at the end: $(git -C bare.git grep -h '^word ' main -- data | wc -l); files left over: $(git -C one status --short | wc -l)"
