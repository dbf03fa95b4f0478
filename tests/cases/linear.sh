# What is read from a table takes time in proportion to its length: each row of tests/lib/large.py
# takes much longer where that is not so, and 5 seconds of a processor are its end.
seconds=5
! grep -q __asan_init "$GETMNT" || seconds=60
for row in distinct near quoted quoted-options equals users types components binds devices; do
	python3 "$TOP/tests/lib/large.py" $row
	for command in "-J -F mountinfo" "-s -P -F fstab" "fstab -F mountinfo --options=live" \
		"fstab -F mountinfo --merge --diff fstab" "audit -F mountinfo --fstab=fstab --config=none --jsonl" \
		"recover -F mountinfo --print fstab"; do
		# shellcheck disable=SC2086
		(ulimit -t $seconds && exec "$GETMNT" $command) >/dev/null 2>&1
		ended=$?
		[ $ended -lt 3 ] || echo "$row: getmnt $command: status $ended"
	done
done
echo "== a list of swap spaces that no kernel has"
{ echo "Filename Type Size Used Priority"; seq -f '/dev/sw%.0f partition 100 0 -2' 100000; } >swaps
seq -f '/dev/sw%.0f none swap sw 0 0' 100000 >fstab
status audit -F mountinfo --fstab=fstab --config=none --swaps=swaps
echo "== a long table"
{ echo "1 0 8:1 / / rw - ext4 /dev/sda1 rw"; seq 2 150000 | sed 's,.*,& 1 0:9 / /m& rw - tmpfs t rw,'; } >mountinfo
(ulimit -t $seconds && exec "$GETMNT" -l --color=always -F mountinfo) >list || echo "status $?"
wc -l <list
