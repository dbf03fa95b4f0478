# Recorded hosts of many kinds (tests/fixtures/hosts): nothing above info on any that is
# healthy; of five faults planted in each exactly those.
hosts=$TOP/tests/fixtures/hosts
python3 "$TOP/tests/lib/snapshots.py" unpack "$hosts" .
for host in *.healthy *.planted; do
	getmnt audit --root="$host" --jsonl >"$host.jsonl"
done
python3 "$TOP/tests/lib/snapshots.py" judge "$hosts" .
echo "status $?"
