# What units want against what is mounted (tests/fixtures/units): a healthy host, whose
# infos are of what a boot does without, or need not reach; then faults planted in it.
status_of()
{
	recorded "$@"
	echo "status $?"
}
units=$TOP/tests/fixtures/units
python3 "$TOP/tests/lib/recorded.py" unpack "$units" .
status_of units.healthy audit -v
recorded units.planted audit --jsonl >units.planted.jsonl
recorded units.healthy audit --jsonl >units.healthy.jsonl
python3 "$TOP/tests/lib/recorded.py" judge "$units" .
grep -o '"source": "[^"]*"\|"owner": "[^"]*"' units.planted.jsonl | sort | uniq -c
status_of units.planted audit -v
echo "--- a boot of a minute"
echo '60.00 0.00' >units.planted/proc/uptime
status_of units.planted audit --only=DRIFT-NOT-MOUNTED,DRIFT-SOURCE,SWAP-NOT-ACTIVE
echo "--- without systemd"
rm units.planted/usr/lib/systemd/systemd
mv units.planted/run units.planted/not
status_of units.planted audit --only=DRIFT-NOT-MOUNTED,DRIFT-SOURCE,SWAP-NOT-ACTIVE -v
mv units.planted/not units.planted/run
