# One document on each line.
getmnt --format=jsonl -F "$(table cli/host)" >out
echo "status $?"
python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("out", encoding="utf-8")]
print(len(rows), "lines")
for row in rows[:3]:
    print(json.dumps(row, sort_keys=True))
PY
