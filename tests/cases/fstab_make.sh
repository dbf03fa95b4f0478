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
