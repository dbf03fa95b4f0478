# Exit statuses: 0, 1, 32 and 64.
host=$(table cli/host)
for args in "-F $host" "-F $host -t xyzfs" "-F $host -M /hom" "-F $host -S /dev/nosuch" \
	"-F $host /nowhere" "-F $host --nosuch" "-F nosuchfile" "-F $(table cli/should-fail-lines)" \
	"-F $(table cli/should-fail-lines) -M /good" "-F $host --strict" "-M /" "-M $PWD" "-T $PWD"; do
	# shellcheck disable=SC2086
	getmnt -q $args >out 2>&1
	echo "$(sed 's|[^ ]*/||g' <<<"$args"): $?"
done
getmnt -q -M /nosuchdirectory 2>/dev/null
echo "a path that is not there: $?"
