# Recorded hosts of many kinds (tests/fixtures/hosts): nothing above info on any that is
# healthy; of five faults planted in each exactly those.
hosts=$TOP/tests/fixtures/hosts
python3 "$TOP/tests/lib/recorded.py" unpack "$hosts" .
for host in *.healthy *.planted; do
	recorded "$host" audit --jsonl >"$host.jsonl"
done
python3 "$TOP/tests/lib/recorded.py" judge "$hosts" .
echo "status $?"
