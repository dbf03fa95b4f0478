# A valid document, also when nothing is there or nothing matches; but none
# with status 1.
for args in "-F $(table cli/empty)" "-F $(table cli/host) -t xyzfs" \
	"-F $(table cli/should-fail-lines) -t xyzfs" "-s -F /dev/fd/9 -M /c"; do
	printf '/dev/x /b xfs defaults\noops\n' >tab
	# shellcheck disable=SC2086
	getmnt -J $args 9<tab >out 2>/dev/null
	echo "status $?"
	python3 -c 'import json, sys; print(json.load(open("out"))["filesystems"])'
done
for args in "-F /bin/ls" "-F nosuchfile" "-s -F /bin/ls" "-N 99999999" "/proc/self/none" \
	"--root /proc/self/none" "-T /proc/self/none/x" "--nosuch" "-o NOSUCH"; do
	# shellcheck disable=SC2086
	getmnt -J $args >out 2>err
	echo "status $?, $(wc -c <out) bytes, $(grep -c '^getmnt: ' err) messages: $args"
done
