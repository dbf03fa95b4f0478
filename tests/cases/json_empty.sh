# Always a valid document, also when nothing is there or nothing matches.
for args in "-F $(table cli/empty)" "-F $(table cli/host) -t xyzfs"; do
	# shellcheck disable=SC2086
	getmnt -J $args >out
	echo "status $?"
	python3 -c 'import json, sys; print(json.load(open("out"))["filesystems"])'
done
