# Output that cannot be written is an error.
[ -e /dev/full ] || skip "there is no /dev/full"
for form in "" -J -P -r --format=mtab --format=dot --format=jsonl; do
	# shellcheck disable=SC2086
	getmnt $form -F "$(table cli/host)" >/dev/full
	echo "status $?"
done
