#!/usr/bin/env bash
# Tests an application that consumes the topic `orders` in the group `billing`, whatever it is written in. Start a cluster and the
# application, and then this script:
#
#   odradek serve --control 127.0.0.1:9099
#   ODRADEK_CONTROL=127.0.0.1:9099 examples/control_scenario.sh
#
# Every step is an `odradek ctl` command, which exits with 1 if a wait times out, so that `set -e` ends the script at the first failure.
set -euo pipefail

step() { echo "* $*"; }
# Prints the value of a field of a result, such as `id  1`.
field() { awk -v name="$1" '$1 == name { print $2; exit }'; }
# Waits until the application has consumed all records.
consumed() { odradek ctl group wait billing --members 1 --state Stable --lag 0 --timeout-s "${TIMEOUT_S:-60}" >/dev/null; }

step "create the topic and wait for the application"
odradek ctl topic create orders 2 >/dev/null
odradek ctl record produce orders first '{"key": "42", "value": "second"}' >/dev/null
consumed

step "keep this state"
snapshot=$(odradek ctl state snapshot | field id)

step "let fetches of the application fail twice"
fault=$(odradek ctl fault add --api Fetch --topic orders --error NOT_LEADER_OR_FOLLOWER --times 2 | field fault)
odradek ctl record produce orders third >/dev/null
odradek ctl fault wait "$fault" 2 --timeout-s "${TIMEOUT_S:-60}" >/dev/null
consumed
odradek ctl fault remove "$fault" >/dev/null

step "stop a node and start it again"
odradek ctl node stop 2
odradek ctl record produce orders fourth >/dev/null
consumed
odradek ctl node start 2

step "let ten minutes pass: the session of the application expires, and it joins again"
odradek ctl clock advance 10m >/dev/null
consumed

step "a wait that cannot succeed exits with 1"
status=0
odradek ctl record wait orders 1000 --timeout-s 0 || status=$?
[ "$status" = 1 ]

step "return to the state that was kept, which has two records"
odradek ctl state restore "$snapshot"
[ "$(odradek ctl record list orders | tail -n +2 | wc -l)" -eq 2 ]
consumed

step "return to the state after start, without the topic; curl can do it too"
if command -v curl >/dev/null; then
  curl --fail --silent --show-error -X POST -H 'Content-Type: application/json' "http://$ODRADEK_CONTROL/state/reset"
else
  odradek ctl state reset
fi
status=0
odradek ctl record list orders || status=$?
[ "$status" = 2 ]
echo "done"
