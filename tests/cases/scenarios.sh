# What users have met, as recorded tables (tests/fixtures/scenarios/README): the fstab that makes the mounts,
# the one that was there, checked and merged, and the mtab.
part()
{
	# Of FILE.raw escapes are bytes, and there is no line feed at the end.
	if grep -qx "== $1.raw" "$scenario"; then
		printf '%b' "$(sed "1,/^== $1\.raw\$/d; /^== /,\$d" "$scenario")" >"$1"
	elif grep -qx "== $1" "$scenario"; then
		sed "1,/^== $1\$/d; /^== /,\$d" "$scenario" >"$1"
	else
		rm -f "$1"
	fi
}
for scenario in "$(table scenarios)"/*; do
	[ "${scenario##*/}" != README ] || continue
	echo "== ${scenario##*/}"
	for name in mountinfo swaps fstab mtab; do
		part "$name"
	done
	swaps=()
	[ ! -e swaps ] || swaps=(--swaps=swaps)
	status fstab -F mountinfo --id=path "${swaps[@]}" >made
	cat made
	if [ -e fstab ]; then
		cp fstab before
		echo "-- fstab"
		status fstab -F mountinfo --id=path "${swaps[@]}" --merge=fstab --check 2>&1 | sed "s|$PWD/||"
		getmnt fstab -F mountinfo --id=path "${swaps[@]}" --merge=fstab --add=persistent \
			--fix=source,options,order,damaged 2>/dev/null >merged
		diff before merged | cat -v
		getmnt fstab -F mountinfo --id=path "${swaps[@]}" --merge=merged --add=persistent \
			--fix=source,options,order,damaged 2>/dev/null | cmp - merged
		cmp fstab before
	fi
	if [ -e mtab ]; then
		echo "-- mtab"
		status recover -F mountinfo mtab 2>&1 | sed "s|$PWD/||"
		getmnt recover -F mountinfo --print mtab >made 2>/dev/null
		diff mtab made | cat -v
		status recover -F mountinfo made
	fi
done
