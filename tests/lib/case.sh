#!/bin/bash
# SPDX-License-Identifier: MIT
#
# case.sh CASE   run one case; started by tests/run.sh, in an empty directory
#
# A case is a piece of bash.  What it prints is its result.  It can use:
#   getmnt ARGS...    the program
#   status ARGS...    the program; prints "status N" behind its output
#   recorded DIR ARGS...  the program, on a host that is a directory (tests/lib/recorded.c)
#   findings          CODE SEVERITY OWNER TARGET EXPECTED ACTUAL of the JSON on standard input
#   table NAME        the path of the recorded table tests/fixtures/NAME
#   defer COMMAND...  run a command at the end, last one first
#   skip WHY          end here, counted as skipped
#   fail WHY          end here, failed
# The case that is read in calls what stands here.
# shellcheck disable=SC2317
set -u

: "${TOP:?}" "${GETMNT:?}"
deferred=()

getmnt()
{
	# shellcheck disable=SC2086
	${GETMNT_WRAP-} "$GETMNT" "$@"
}

recorded()
{
	local dir=$1
	shift
	# shellcheck disable=SC2086
	GETMNT_RECORDED=$dir ${GETMNT_WRAP-} "${GETMNT%/*}/tests/lib/recorded" "$@"
}

status()
{
	getmnt "$@"
	echo "status $?"
}

findings()
{
	jq -r '.findings[] | [.code, .severity, .owner, .target, .expected, .actual] |
		map(. // "-" | gsub(" "; "\\x20")) | join(" ")' | LC_ALL=C sort -u
}

table()
{
	if [ ! -e "$TOP/tests/fixtures/$1" ]; then
		fail "no fixture $1"
	fi
	echo "$TOP/tests/fixtures/$1"
}

defer()
{
	deferred+=("$(printf '%q ' "$@")")
}

run_deferred()
{
	local i
	for ((i = ${#deferred[@]} - 1; i >= 0; i--)); do
		eval "${deferred[i]}"
	done
}

skip()
{
	echo "$*" >&3
	exit 77
}

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

trap run_deferred EXIT
# shellcheck disable=SC1090
. "$1"
# Only fail and skip end a case early; the last command's status means nothing.
exit 0
