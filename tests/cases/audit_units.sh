# What units want against what is mounted (tests/fixtures/units): a healthy host, whose
# infos are of what a boot does without, or need not reach; then faults planted in it.
units=$TOP/tests/fixtures/units
python3 "$TOP/tests/lib/snapshots.py" unpack "$units" .
status audit --root=units.healthy -v
getmnt audit --root=units.planted --jsonl >units.planted.jsonl
getmnt audit --root=units.healthy --jsonl >units.healthy.jsonl
python3 "$TOP/tests/lib/snapshots.py" judge "$units" .
grep -o '"source": "[^"]*"\|"owner": "[^"]*"' units.planted.jsonl | sort | uniq -c
status audit --root=units.planted -v
echo "--- a boot of a minute"
sed -i 's/^uptime=.*/uptime=60/' units.planted/getmnt-snapshot
status audit --root=units.planted --only=DRIFT-NOT-MOUNTED,DRIFT-SOURCE,SWAP-NOT-ACTIVE
echo "--- without systemd, and with a directory of units that is not recorded"
rm units.planted/usr/lib/systemd/systemd
mv units.planted/run units.planted/not
status audit --root=units.planted --only=DRIFT-NOT-MOUNTED,DRIFT-SOURCE,SWAP-NOT-ACTIVE -v
mv units.planted/not units.planted/run
mv units.planted/usr/lib/systemd units.planted/usr/lib/systemd.not
: >units.planted/usr/lib/.getmnt-part
: >units.planted/run/.getmnt-part
ln -s getmnt:other units.planted/run/systemd/system/x
status audit --root=units.planted --only=DRIFT-NOT-MOUNTED,DRIFT-SOURCE,SWAP-NOT-ACTIVE -v
