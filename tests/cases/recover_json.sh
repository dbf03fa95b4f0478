# getmnt recover --json: a row for each line and for each mount without one; JSON also of nothing.
stacked=$(table cli/stacked)
getmnt recover -F "$stacked" -p missing >good
{
	sed 's/two/2/; s/above/"ab\\\\ove/; 5d' good
	printf 'x\0y\n#\nusb /m\xff\x1b vfat rw,pass=x 0 0\n/dev/sda1 / ext4 rw,x-a,user=bob 0 0\n'
} >bad
status recover -F "$stacked" --json bad | grep -v '"version"'
: >blank
status recover -F "$(table cli/empty)" -J blank | grep -v '"version"'
# Options that the kernel does not know: what the type or the kernel bears out, all, none.
host=$(table cli/host)
getmnt recover -F "$host" -p missing |
	sed '/nfs4/s/ 0 0$/,_netdev,x-nas 0 0/; /loop0/s/ 0 0$/,loop=\/dev\/loop0,user=bob 0 0/; / \/home /s/ 0 0$/,_netdev,loop=\/dev\/loop1 0 0/' >hints
for keep in checked all none; do
	getmnt recover -F "$host" -J --keep=$keep hints | grep '_netdev\|loop=' | sed 's/"source".*"kept"/"kept"/'
	getmnt recover -F "$host" -p --keep=$keep hints 2>&1 | grep '_netdev\|loop='
	# Of what is right nothing is changed.
	getmnt recover -F "$host" --write --yes --keep=$keep hints 2>/dev/null
done
# Beside a recorded table, the fstab and the users of a root that is named.
mkdir -p r/etc
cp hints r/etc/mtab
printf '%s\n' 'nas.example.org:/export /mnt/nas nfs x-nas 0 0' '/dev/loop0 /opt/app auto user 0 0' >r/etc/fstab
printf '%s\n' 'bob:x:1000:1000::/:/bin/sh' >r/etc/passwd
getmnt recover -F "$host" --root="$PWD/r" -p | grep '_netdev\|loop='
# For another file, the lines that are not kept are reported.
sed -i '$d' hints
getmnt recover -F "$host" hints
getmnt recover -F "$stacked" --json bad | python3 -c 'import json, sys
found = json.load(sys.stdin)
assert sorted(f["line"] for f in found["findings"] if f["line"]) == list(range(1, 13)), found
assert found["counts"] == {v: sum(f["verdict"] == v for f in found["findings"]) for v in found["counts"]}'
# A document that was cut is no success.
getmnt recover -F "$stacked" --json good >/dev/full
echo "status $?"
