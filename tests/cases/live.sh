# The mounts of this machine: every line of mountinfo has a row.
getmnt -J -l >out
echo "status $?"
python3 - <<'PY'
import json
rows = {int(row["id"]) for row in json.load(open("out"))["filesystems"]}
lines = {int(line.split()[0]) for line in open("/proc/self/mountinfo", errors="replace")}
print("all" if rows == lines else sorted(rows ^ lines))
PY
