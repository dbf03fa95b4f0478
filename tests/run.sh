#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [--getmnt PROGRAM] [--update] [--valgrind] [PATTERN...]
#
# Runs the cases tests/cases/NAME.sh, all or those that match a PATTERN (a glob), each in a clean
# environment and an empty directory, and compares their output (stdout and stderr) with NAME.out.
# --update writes NAME.out instead.  tests/lib/case.sh has the functions that cases can use.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/runner.sh
. "$here/lib/runner.sh"
top=$(dirname "$here")
getmnt=$top/getmnt
update=
valgrind=
seconds=120

while [ $# -gt 0 ]; do
	case $1 in
	--getmnt) getmnt=$(realpath "$2") || exit 1; shift ;;
	--update) update=1 ;;
	--valgrind) valgrind=1; seconds=900 ;;
	-*) sed -n 's/^# \{0,1\}//; 3,9p' "$0"; exit 1 ;;
	*) break ;;
	esac
	shift
done
if [ ! -x "$getmnt" ]; then
	echo "run.sh: $getmnt: no such program; make it first" >&2
	exit 1
fi

# A sanitized program is several times slower.
! grep -q __asan_init "$getmnt" || seconds=300

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# Whether valgrind found no error; else show its reports.
memory_clean()
{
	local log clean=0
	for log in "$work"/valgrind.*; do
		if [ -s "$log" ]; then
			cat "$log"
			clean=1
		fi
	done
	return $clean
}

for case in "$here"/cases/*.sh; do
	[ -e "$case" ] || continue
	name=$(basename "$case" .sh)
	chosen "$name" "$@" || continue
	golden=${case%.sh}.out
	if [ -n "$valgrind" ] && grep -v '^#' "$case" | grep -qE '(^|[[:space:](])recorded '; then
		skipped=$((skipped + 1))
		echo "skip $name: valgrind does not know openat2, by which files of a recorded host are found"
		continue
	fi
	if [ -n "$valgrind" ] && [[ " find_errors write_error " = *" $name "* ]]; then
		skipped=$((skipped + 1))
		echo "skip $name: valgrind opens its log in place of a standard output that is closed"
		continue
	fi
	rm -rf "${work:?}"/*
	mkdir "$work/dir"
	wrap=
	# libblkid calls an ioctl (of CD-ROM drives) that valgrind does not know.
	[ -z "$valgrind" ] ||
		wrap="valgrind -q --sim-hints=lax-ioctls --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --log-file=$work/valgrind.%p"
	(
		cd "$work/dir" &&
			timeout -k 5 "$seconds" env -i PATH="$PATH" HOME="$work/dir" LC_ALL=C.UTF-8 TERM=dumb TZ=UTC \
				TMPDIR="$work/dir" TOP="$top" GETMNT="$getmnt" GETMNT_WRAP="$wrap" \
				GETMNT_DISABLE="${GETMNT_DISABLE-}" ASAN_OPTIONS="${ASAN_OPTIONS-}" \
				bash "$here/lib/case.sh" "$case" >"$work/out" 2>&1 3>"$work/why" </dev/null
	)
	status=$?
	if [ $status -eq 77 ]; then
		skipped=$((skipped + 1))
		echo "skip $name: $(cat "$work/why")"
	elif ! memory_clean; then
		failed=$((failed + 1))
		echo "FAIL $name: valgrind"
	elif [ $status -ne 0 ]; then
		failed=$((failed + 1))
		[ $status -ne 124 ] || echo "it did not end in $seconds s"
		sed 's/^/  /' "$work/out"
		echo "FAIL $name: status $status"
	elif [ -n "$update" ]; then
		cmp -s "$work/out" "$golden" || echo "updated $name"
		cp "$work/out" "$golden"
		passed=$((passed + 1))
	elif [ ! -e "$golden" ]; then
		failed=$((failed + 1))
		echo "FAIL $name: no $golden; run with --update and read what it wrote"
	elif ! diff -u "$golden" "$work/out" >"$work/diff"; then
		failed=$((failed + 1))
		sed 's/^/  /' "$work/diff"
		echo "FAIL $name: output differs"
	else
		passed=$((passed + 1))
		echo "ok   $name"
	fi
done

if [ $((passed + failed + skipped)) -eq 0 ]; then
	echo "FAIL no case matches: $*"
	failed=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
