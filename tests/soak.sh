#!/bin/bash
# SPDX-License-Identifier: MIT
#
# soak.sh GETMNT [SECONDS [EVERY [RATE]]]
#
# An hour (SECONDS) of a round of runs a minute (EVERY), beside two file systems
# that hang, while RATE mounts a second come and go: tests/lib/soak.py.
set -u

here=$(cd "$(dirname "$0")" && pwd)
getmnt=$(realpath -e "${1:?which getmnt}") || exit 1
if [ "$(id -u)" -ne 0 ]; then
	echo "soak.sh: it mounts, and needs root" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/dir"
GETMNT=$getmnt GETMNT_WORK=$work/dir LC_ALL=C.UTF-8 TERM=dumb TZ=UTC \
	PYTHONPATH=$here/lib PYTHONDONTWRITEBYTECODE=1 \
	unshare -m --propagation private python3 -c "import soak
soak.soak(seconds=${2:-3600}, every=${3:-60}, rate=${4:-100})" 3>&1 </dev/null
status=$?
[ $status -eq 0 ] && echo "1 passed, 0 failed, 0 skipped" || echo "0 passed, 1 failed, 0 skipped"
exit $status
