# What is refused says what to use instead; findmnt's options by name.
for args in --probe=remote --verbose \
	"-w 5" "-Q x" --filter=x --hyperlink; do
	# shellcheck disable=SC2086
	getmnt $args 2>&1
	echo "status $?"
done
for args in --engine=sync --engine=auto --threads=2 --depth=3 --search-limit=100,1.5 \
	--max-time=2.5 --stats=text --identity=mntid --stacks=collapse -u --debug; do
	getmnt -q -F "$(table cli/host)" "$args" 2>/dev/null
	echo "$args: $?"
done
