# SPDX-License-Identifier: MIT
# What a watch cannot do, each with what to use instead.
for args in --json "--format=json" --prometheus "--output=x" "--jsonl --output=x" "--save=x" --show-config "--static --fstab=f" \
	"-F table --fstab=f" "--swaps=s" --require-complete "--fail-on=never" --nagios; do
	# shellcheck disable=SC2086
	getmnt audit --watch $args 2>&1 | head -1
done
for seconds in 0 -1 1d 86401 ""; do
	getmnt audit --watch="$seconds" 2>&1 | head -1
done
getmnt audit --watch --json >/dev/null 2>&1
echo "status $?"
getmnt audit --watch --config=/proc/self/none
echo "status $?"
getmnt audit --watch=60 /proc/self/none >/dev/null 2>&1
echo "status $?"
