#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [--getmnt PROGRAM] [--cases DIR] [--part I/N] [PATTERN...]
#
# Runs the system cases tests/system/NAME.py, or those in DIR, each in a private mount
# namespace and a directory of its own.  A mount, loop device, FUSE connection or process
# that a case leaves behind is a failure.  Without root all cases are skipped, or fail with
# GETMNT_REQUIRE_ROOT=1.  --part runs every N-th case, starting with the I-th.
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
	-*) sed -n 's/^# \{0,1\}//; 3,8p' "$0"; exit 1 ;;
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
	# TESTS may select cases on recorded tables only.
	echo "no system case matches: $*"
	echo "0 passed, 0 failed, 0 skipped"
	exit 0
fi

if [ "$(id -u)" -ne 0 ] || ! unshare -m --propagation private true; then
	echo "skip: the system cases need root and mount namespaces"
	if [ -n "${GETMNT_REQUIRE_ROOT-}" ]; then
		echo "FAIL: GETMNT_REQUIRE_ROOT is set"
		echo "0 passed, ${#cases[@]} failed, 0 skipped"
		exit 1
	fi
	echo "0 passed, 0 failed, ${#cases[@]} skipped"
	exit 0
fi

# Cases are about a disk and a host that has been up for a while: on a tmpfs much cannot be in an
# fstab, and for five minutes after a boot audit does not report what is missing.
if [ -z "${TMPDIR-}" ] && [ "$(stat -f -c %T /tmp)" = tmpfs ] && [ -d /var/tmp ]; then
	export TMPDIR=/var/tmp
fi
private=(unshare -m --propagation private)
# Before Linux 6.3 a process enters the time namespace by fork alone.
booted=(--time --boottime 1000 --fork --kill-child)
if [ "$(cut -d. -f1 /proc/uptime)" -lt 1000 ] && unshare "${booted[@]}" true 2>/dev/null; then
	private+=("${booted[@]}")
fi

# Compared before and after: mounts, the files of /dev that are not devices, processes of this
# run (marked in their environment), loop devices and FUSE connections.  Of the last two only
# new ones count that are mounted nowhere: others are of other runs, which may end meanwhile.
GETMNT_TEST_RUN=$$.$RANDOM
survey()
{
	local name dir used
	# By number, or by source: btrfs has numbers of its own.
	used=$(cat /proc/[0-9]*/mountinfo 2>/dev/null |
		sed -nE 'h; s/^[0-9]+ [0-9]+ ([0-9]+:[0-9]+) .*/\1/p; g; s,.* - [^ ]+ (/dev/loop[0-9]+) .*,\1,p' | sort -u)
	sed 's/^/mount /' /proc/self/mountinfo
	# losetup(8) would block on a hung file of another run.
	for name in /sys/block/loop*/loop/backing_file; do
		dir=${name%/loop/*}
		[ -e "$name" ] && ! grep -qxF -e "$(cat "$dir/dev")" -e "/dev/${dir##*/}" <<<"$used" &&
			grep -H . "$name" | sed 's/^/loop /'
	done 2>/dev/null
	for name in /sys/fs/fuse/connections/*; do
		[ -e "$name" ] && ! grep -qxF "0:${name##*/}" <<<"$used" && echo "$name"
	done
	find /dev -xdev -mindepth 1 -maxdepth 1 ! -type b ! -type c
	for dir in /proc/[0-9]*; do
		if grep -qzsFx "GETMNT_TEST_RUN=$GETMNT_TEST_RUN" "$dir/environ" 2>/dev/null; then
			echo "process ${dir#/proc/} $(tr '\0' ' ' <"$dir/cmdline")"
		fi
	done
}

TIMEFORMAT='%1U %1S'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
survey >"$work/before"

for case in "${cases[@]}"; do
	name=$(basename "$case" .py)
	: >"$work/why"
	rm -rf --one-file-system "$work/dir"
	mkdir "$work/dir"
	start=$SECONDS
	{
		time GETMNT=$getmnt GETMNT_WORK=$work/dir GETMNT_TEST_RUN=$GETMNT_TEST_RUN \
			LC_ALL=C.UTF-8 TERM=dumb TZ=UTC PYTHONDONTWRITEBYTECODE=1 \
			PYTHONPATH=$here/../lib:$here/../../bench \
			timeout -k 5 "$seconds" "${private[@]}" \
			python3 "$case" >"$work/out" 2>&1 3>"$work/why" </dev/null
	} 2>"$work/time"
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
	read -r user sys <"$work/time"
	echo "$verdict ($((SECONDS - start)) s, $(((10#${user/./} + 10#${sys/./} + 5) / 10)) s of CPU time)"
done

# Retry for a while: some take a moment to disappear.
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
	echo "FAIL something is left behind or gone"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
