# Units against what is mounted (tests/fixtures/units): a healthy host, then with faults planted.
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
status_of units.planted audit -v
echo "--- a boot of a minute"
echo '60.00 0.00' >units.planted/proc/uptime
status_of units.planted audit --only=DRIFT-NOT-MOUNTED,SWAP-NOT-ACTIVE
echo "--- without systemd"
mv units.planted/run/systemd/system units.planted/run/systemd/not
status_of units.planted audit --only=DRIFT-NOT-MOUNTED,SWAP-NOT-ACTIVE,UNIT-FAILED,FSTAB-SYSTEMD-STALE
