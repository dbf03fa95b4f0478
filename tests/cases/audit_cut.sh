# A line whose end is missing and whose mount still exists: audit names the command that adds the whole line.
umask 022
mkdir -p host/proc/self host/etc
cat >host/proc/self/mountinfo <<'TABLE'
20 1 0:80 / / rw,relatime shared:1 - tmpfs t rw
21 20 0:81 / /srv/data rw,relatime - nfs4 nas.example.org:/export/data rw,vers=4.2,addr=10.0.0.1
22 20 0:82 / /srv/other rw,relatime - nfs4 nas.example.org:/export/other rw,vers=4.2,addr=10.0.0.1
TABLE
printf 'Filename\tType\tSize\tUsed\tPriority\n' >host/proc/swaps
rest='t / tmpfs defaults 0 0\nnas.example.org:/export/other /srv/other nfs4 defaults 0 0\n'
hints()
{
	recorded host audit --only=FSTAB-SYNTAX,DRIFT-NOT-IN-FSTAB --json |
		jq -r '.findings[] | "\(.code) \(.target) \(.source // "-" | sub(".*/"; "")): \(.hint)"'
}
for cut in "nas.example.org:/export/data /srv/data" "nas.example.org:/export/data /srv/da" "nas.example.org:/export/data" \
	"nas.exam" "nas.example.org:/export/data /srv/data nfs4 defa\0\0\0\0\0\n" "nas.example.org:/export/data /srv/da\0\0\0" \
	"nas.example.org:/export/data \n"; do
	echo "== $cut"
	# shellcheck disable=SC2059 # these are formats
	printf "$rest$cut" >host/etc/fstab
	hints
done
echo "== not the line of a mount"
for cut in "nas.example.org:/export/data /mnt" "other.example.org:/export/data /srv/data2" "/dev/sd" "nas.example.org:/export/data /srv/data nfs4 defaults, ro 0 0"; do
	# shellcheck disable=SC2059
	printf "$rest$cut\n" >host/etc/fstab
	echo "-- $cut"
	hints
done
echo "== in the middle of the file, and what the command does"
# shellcheck disable=SC2059
printf "t / tmpfs defaults 0 0\nnas.example.org:/export/data /sr\nnas.example.org:/export/other /srv/other nfs4 defaults 0 0\n" >host/etc/fstab
hints
getmnt fstab -F host/proc/self/mountinfo --merge=host/etc/fstab --add=persistent --diff 2>/dev/null | sed 1,2d
echo "== of a recorded table"
getmnt audit -F host/proc/self/mountinfo --fstab=host/etc/fstab --only=FSTAB-SYNTAX --json | jq -r '.findings[].hint'
