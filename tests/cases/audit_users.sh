# SPDX-License-Identifier: MIT
# 700 users' mounts with long names, each stacked on itself, and three findings of the system: every format
# has these, and says how many it leaves out, by severity.
# shellcheck source=tests/lib/audit.sh
. "$TOP/tests/lib/audit.sh"
python3 - <<'PY'
with open("table", "w", encoding="utf-8") as f:
    f.write("20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw\n21 20 8:2 / /zdata ro,relatime - ext4 /dev/mapper/data ro\n"
            "22 20 8:1 /srv/x//deleted /zx rw,relatime - ext4 /dev/mapper/root rw\n"
            "23 20 0:40 / /home/u/dash rw,nosuid,nodev - fuse.sshfs -oProxyCommand=touch${IFS}x:/y rw,user_id=1500,group_id=1500\n")
    for i in range(700):
        name = "/".join(["\\001" * 200] * 14)
        for k in range(2):
            f.write(f"{100 + 2 * i + k} {100 + 2 * i if k else 20} 0:{100 + i} / /home/u/{i}/{name} rw,nosuid,nodev - "
                    f"fuse.sshfs h{i}:/{'y' * 900} rw,user_id=1500,group_id=1500,allow_other\n")
with open("fstab", "w", encoding="utf-8") as f:
    f.write("/dev/mapper/root / ext4 defaults 0 1\n/dev/mapper/data /zdata ext4 defaults,nofail 0 2\nt /zz tmpfs nofail 0 0\n")
PY
echo "== json"
audit --json >out
echo "status $?"
python3 - <<'PY'
import json
with open("out", "rb") as f:
    text = f.read()
document = json.loads(text)
users = [f for f in document["findings"] if (f["owner"] or "").startswith("user")]
size = sum(len(v.encode()) for f in users for v in f.values() if v)
for f in document["findings"]:
    if f not in users:
        print(f["code"], f["severity"], f["target"], f["owner"])
print({f["owner"] for f in users}, sorted({f["severity"] for f in users}), len(users) <= 50, len(text) < 1 << 20, size < 80 << 10)
counts, left = document["counts"], document["left_out"]
print(counts, {s: counts[s] - left[s] == sum(f["severity"] == s for f in document["findings"]) for s in left})
print(f"left out, of users' mounts: {left['critical']} critical, {left['warning']} warnings, {left['info']} informational", file=open("left", "w"))
print(all(len(f["target"]) > 2800 for f in users if f["code"] == "MNT-DUP"), left["warning"] > 600, left["critical"])
PY
audit --jsonl >line
echo "jsonl: $(wc -l <line) line, $(($(wc -c <line) < 1 << 20))"
python3 "$TOP/tests/lib/forms.py" json "$schema" <line
echo "== text"
audit >out
grep -c . out | awk '{ print $1 < 250 }'
awk '{ if (length($0) > 450) print "long" }' out | sort -u
grep -A1 -E '^/z' out
grep -c '\.\.\.' out | awk '{ print $1 > 10 }'
grep -oE 'left out, .*' out | sed -E 's/[0-9]+/N/g'
echo "== nagios"
audit --format=nagios >out
head -1 out | cut -c1-78
grep -oE 'left out, .*' out | sed -E 's/[0-9]+/N/g'
audit --format=nagios --verbose --verbose >out
grep -E ' /z' out | tail -n +2 | cut -c1-60
awk '{ if (length($0) > 1300) print "long" }' out | sort -u
echo "== prometheus"
audit --prometheus >out
python3 "$TOP/tests/lib/forms.py" prometheus <out | sed -E 's/[0-9]+ left/N left/; s/[0-9]+ findings/N findings/'
grep -E '^getmnt_audit_finding\{.*target="/z' out
grep -c '^getmnt_audit_finding{' out | awk '{ print $1 <= 53 }'
echo "== the same counts"
for form in text nagios; do
	audit --format="$form" | grep 'left out'
done | sort -u | diff - left && echo same
grep -oE 'findings_left_out\{severity="warning"\} [0-9]+' out | grep -oE '[0-9]+$' | grep -qx "$(grep -oE '[0-9]+ warning' left | cut -d' ' -f1)" && echo same
echo "== left out, and failing all the same"
audit --only=MNT-DUP --format=text >out
echo "status $?"
tail -2 out | head -1 | cut -d'(' -f1
echo "ignore * owner=user" >conf
audit --config=conf --verbose >out
echo "status $?, $(grep -c ignored out | awk '{ print $1 < 60 }')"
grep 'ignored by the conf.*more' out | sed -E 's/[0-9]+/N/'
echo "== no line of theirs"
printf 'Filename\tType\tSize\tUsed\tPriority\n' >sw
getmnt fstab -F table --swaps=sw >made 2>/dev/null
grep -v '^#' made
grep -c '^# getmnt: no line for /home/u/.*user 1500 mounted it' made
cp fstab merged
getmnt fstab -F table --swaps=sw --merge=merged --add=persistent 2>/dev/null | grep -v '^#' | diff - fstab && echo unchanged
