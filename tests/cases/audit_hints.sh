# SPDX-License-Identifier: MIT
# A hint that is a command does only what it says when pasted into a shell: names that a user chose are
# quoted.  For a recorded table, no hint runs getmnt, which would read the mounts of this host.
umask 022
cat >mi <<'TABLE'
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 20 0:90 / /home/u/a;touch\040PWNED rw,nosuid,nodev - fuse.sshfs u@h: rw,user_id=0,group_id=0
41 20 0:91 / /srv/$(touch\040PWNED) rw - tmpfs t rw
42 20 0:92 / /srv/it's,\134a rw - tmpfs t rw
43 20 0:93 / /srv/`touch\040PWNED`\011b rw - tmpfs t rw
44 20 0:94 / /srv/plain-1.0@x:y%z+=_ rw - tmpfs t rw
45 20 0:95 / /srv/p;touch\040PWNED rw shared:3 - tmpfs t rw
TABLE
cat >fstab <<'FSTAB'
/dev/sda1 / ext4 defaults 0 1
t /srv/x;touch\040PWNED tmpfs defaults 0 0
t /a\040'b tmpfs defaults 0 0
t /srv/p;touch\040PWNED tmpfs defaults 0 0
FSTAB
printf 'Filename\tType\tSize\tUsed\tPriority\n' >sw
# shellcheck disable=SC2016 # nothing is to expand
printf 'require /srv/p;touch\\040PWNED nodev,x=$(touch\\040PWNED)\nrequire /srv/p;touch\\040PWNED private\n' >conf
# shellcheck disable=SC2218 # another than the one below
getmnt audit -F mi --fstab=fstab --swaps=sw --config=conf --only='DRIFT-*,POLICY-OPTION,MNT-PROPAGATION' --include=session --json |
	grep -o '"hint": "[gm][^"]*' | sed 's/^[^:]*: "//; s/\\\\/\\/g; s/, \(or give the line\|or change\|and let\|and correct\).*//; s/; mounts below.*//' |
	grep -e PWNED -e /srv -e /a >hints
cat hints
# shellcheck disable=SC2218 # another than the one below
getmnt audit -F mi --fstab=fstab --swaps=sw --config=conf --include=session -v | grep -c "getmnt fstab -"
echo "--- what a shell makes of them"
mount() { printf '[%s]' mount "$@"; echo; }
eval "$(cat hints)"
find . -name "PWNED*" | wc -l
