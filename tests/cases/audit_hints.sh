# SPDX-License-Identifier: MIT
# A hint that is a command does only what it says when pasted into a shell: names that a user chose are
# quoted.  For a recorded table, no hint is a command: it would show or change the wrong host.
umask 022
mkdir -p host/proc/self host/etc/getmnt
cat >host/proc/self/mountinfo <<'TABLE'
20 1 0:80 / / rw,relatime shared:1 - tmpfs t rw
40 20 0:90 / /home/u/a;touch\040PWNED rw,nosuid,nodev - fuse.sshfs u@h: rw,user_id=0,group_id=0
41 20 0:91 / /srv/$(touch\040PWNED) rw - tmpfs t rw
42 20 0:92 / /srv/it's,\134a rw - tmpfs t rw
43 20 0:93 / /srv/`touch\040PWNED`\011b rw - tmpfs t rw
44 20 0:94 / /srv/plain-1.0@x:y%z+=_ rw - tmpfs t rw
45 20 0:95 / /srv/p;touch\040PWNED rw shared:3 - tmpfs t rw
TABLE
cat >host/etc/fstab <<'FSTAB'
t / tmpfs defaults 0 0
t /srv/m tmpfs defaults,credentials=/etc/my\040key 0 0
t /srv/x;touch\040PWNED tmpfs defaults 0 0
t /a\040'b tmpfs defaults 0 0
t /srv/p;touch\040PWNED tmpfs defaults 0 0
none none swap sw 0 0
FSTAB
touch 'host/etc/my key'
printf 'Filename\tType\tSize\tUsed\tPriority\n' >host/proc/swaps
# shellcheck disable=SC2016 # nothing is to expand
printf 'require /srv/p;touch\\040PWNED nodev,x=$(touch\\040PWNED)\nrequire /srv/p;touch\\040PWNED private\n' >host/etc/getmnt/audit.conf
# hints: read JSON; print the hints of the form "COMMAND, and what to do then".
hints()
{
	jq -r '.findings[].hint // empty' | grep -E '^(mount|swapon|systemctl|chmod|getmnt) ' |
		sed 's/, \(or give the line\|or change\|or remove\|and let\|and correct\).*//; s/; mounts below.*//'
}
only='DRIFT-*,SWAP-*,POLICY-OPTION,MNT-PROPAGATION,FSTAB-*'
recorded host audit --only="$only" --include=session --json | hints | tee pasted
echo "--- what a shell makes of them"
for name in mount swapon systemctl chmod getmnt; do
	eval "$name() { printf '[%s]' $name \"\$@\"; echo; }"
done
eval "$(cat pasted)"
find . -name "PWNED*" | wc -l
unset -f getmnt
echo "--- of a recorded table"
host=host/proc/self/mountinfo
"$GETMNT" audit -F $host --fstab=host/etc/fstab --swaps=host/proc/swaps --config=host/etc/getmnt/audit.conf \
	--only="$only" --include=session --json >out
hints <out
jq -r '.findings[].hint // empty' out | LC_ALL=C sort -u
