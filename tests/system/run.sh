#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [--getmnt PROGRAM] [--cases DIR] [--part I/N] [PATTERN...]
#
# Runs the system cases tests/system/NAME.py, or those in DIR, each in a private
# mount namespace and with a directory of its own.  Mounts, loop devices, FUSE
# connections and processes are compared before and after; a difference is a
# failure.  Without root everything is skipped, which GETMNT_REQUIRE_ROOT=1
# makes a failure.  --part runs every N-th case, from the I-th on.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/runner.sh
. "$here/../lib/runner.sh"
getmnt=$here/../../getmnt
cases_dir=$here
part=1/1
seconds=${GETMNT_SECONDS:-$((240 * ${GETMNT_SLOW:-1}))}     # for each case

while [ $# -gt 0 ]; do
	case $1 in
	--getmnt) getmnt=$2; shift ;;
	--cases) cases_dir=$2; shift ;;
	--part) part=$2; shift ;;
	-*) sed -n 's/^# \{0,1\}//; 3,9p' "$0"; exit 1 ;;
	*) break ;;
	esac
	shift
done
if ! getmnt=$(realpath -e "$getmnt"); then
	echo "run.sh: no such program; make it first" >&2
	exit 1
fi

all=() cases=()
for case in "$cases_dir"/*.py; do
	[ -e "$case" ] && chosen "$(basename "$case" .py)" "$@" && all+=("$case")
done
for ((i = ${part%/*} - 1; i < ${#all[@]}; i += ${part#*/})); do
	cases+=("${all[i]}")
done
if [ ${#all[@]} -eq 0 ]; then
	# The cases on recorded tables may be the ones that were meant.
	echo "no system case matches: $*"
	echo "0 passed, 0 failed, 0 skipped"
	exit 0
fi

if [ "$(id -u)" -ne 0 ] || ! unshare -m --propagation private true; then
	echo "skip: the system cases need root, and mount namespaces"
	if [ -n "${GETMNT_REQUIRE_ROOT-}" ]; then
		echo "FAIL: GETMNT_REQUIRE_ROOT is set"
		echo "0 passed, ${#cases[@]} failed, 0 skipped"
		exit 1
	fi
	echo "0 passed, 0 failed, ${#cases[@]} skipped"
	exit 0
fi

# What must be the same before and after: mounts, what is in /dev beside devices,
# and processes of this run (by a mark in their environment).  No loop device and no FUSE connection may be
# new; those of other runs beside this one come and go.
GETMNT_TEST_RUN=$$.$RANDOM
survey()
{
	sed 's/^/mount /' /proc/self/mountinfo
	# losetup asks each file, and waits where one of another run hangs.
	grep -H . /sys/block/loop*/loop/backing_file 2>/dev/null | sed 's/^/loop /'
	find /sys/fs/fuse/connections -mindepth 1 -maxdepth 1 2>/dev/null
	find /dev -xdev -mindepth 1 -maxdepth 1 ! -type b ! -type c
	local dir
	for dir in /proc/[0-9]*; do
		if grep -qzsFx "GETMNT_TEST_RUN=$GETMNT_TEST_RUN" "$dir/environ" 2>/dev/null; then
			echo "process ${dir#/proc/} $(tr '\0' ' ' <"$dir/cmdline")"
		fi
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/dir"
passed=0 failed=0 skipped=0
survey >"$work/before"

for case in "${cases[@]}"; do
	name=$(basename "$case" .py)
	: >"$work/why"
	start=$SECONDS
	GETMNT=$getmnt GETMNT_WORK=$work/dir GETMNT_TEST_RUN=$GETMNT_TEST_RUN \
		LC_ALL=C.UTF-8 TERM=dumb TZ=UTC PYTHONPATH=$here/../lib:$here/../../bench PYTHONDONTWRITEBYTECODE=1 \
		timeout -k 5 "$seconds" unshare -m --propagation private \
		python3 "$case" >"$work/out" 2>&1 3>"$work/why" </dev/null
	status=$?
	if [ $status -eq 0 ]; then
		passed=$((passed + 1))
		verdict="ok   $name"
	elif [ $status -eq 77 ]; then
		skipped=$((skipped + 1))
		verdict="skip $name: $(cat "$work/why")"
	else
		failed=$((failed + 1))
		verdict="FAIL $name: status $status"
		[ $status -ne 124 ] && [ $status -ne 137 ] || verdict="FAIL $name: did not end in $seconds s"
	fi
	cat "$work/out"
	echo "$verdict ($((SECONDS - start)) s)"
done

# What is left: they may take a moment to go, and those of others longer.
left()
{
	survey >"$work/after"
	diff "$work/before" "$work/after" | grep -E '^[<>]' | grep -vE '^< (loop |/sys/fs/fuse/)'
}
left >"$work/left"
for ((turn = 0; turn < 60; turn++)); do
	[ -s "$work/left" ] || break
	sleep 0.3
	left | grep -Fxf "$work/left" >"$work/still"
	mv "$work/still" "$work/left"
done
sed -n 's/^process \([0-9]*\) .*/\1/p' "$work/after" | while read -r pid; do
	kill -9 "$pid" 2>/dev/null
done
if [ ! -s "$work/left" ]; then
	passed=$((passed + 1))
	echo "ok   nothing is left behind"
else
	failed=$((failed + 1))
	cat "$work/left"
	echo "FAIL left behind, or gone"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
