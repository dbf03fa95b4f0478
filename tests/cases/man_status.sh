# Exit statuses: 0, 1, 32 and 64; -q prints no table.
host=$(table cli/host)
broken=$(table cli/should-fail-lines)
while read -r args; do
	# shellcheck disable=SC2086
	getmnt -q $args >out 2>/dev/null
	echo "status $?, $(wc -c <out) bytes: $args" | sed "s|$TOP/tests/fixtures/cli/||"
done <<ARGS
-F $host
-F $host -t xyzfs
-F $host -M /hom
-F $host -S /dev/nosuch
-F $host /nowhere
-F $host --nosuch
-F nosuchfile
-F $broken
-F $broken -M /good
-F $host --strict
-M /
-M .
-T .
-M /proc/self/none
ARGS
