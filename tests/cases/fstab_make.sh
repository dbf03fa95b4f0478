# getmnt fstab, of recorded tables: lines, comments, what is left out; forms and refusals.
host=$(table cli/host)
status fstab -F "$host" --id=path
echo
status fstab -F "$host" --id=path --options=live --nofail
echo
status fstab -F "$host"
echo
getmnt fstab -F "$host" --id=path --explain >/dev/null
echo
status fstab -F "$(table cli/stacked)" --id=path
echo
status fstab -F "$host" --id=path /srv/data
status fstab -F "$host" --id=path /srv/
echo
printf 'Filename Type Size Used Priority\n/dev/sda9 partition 1 0 -2\n/swap\\040file file 1 0 5\n' >swaps
status fstab -F "$host" --id=path --swaps=swaps /srv/data
echo
# Who automounts is not in the table.
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 0:30 / /mnt/nas rw,relatime - autofs systemd-1 rw,fd=50,pgrp=1,timeout=0,direct
22 21 0:31 / /mnt/nas rw,relatime - nfs4 nas:/export rw,vers=4.2,addr=192.0.2.9
TABLE
status fstab -F table --id=path
