# getmnt recover, of recorded tables: what is said of a damaged file, and the file made anew.
host=$(table cli/host)
stacked=$(table cli/stacked)
getmnt recover -F "$stacked" -p missing >good
cat good
status recover -F "$stacked" good
status recover -F "$stacked" --all good
echo "== damaged"
{
	printf '/dev/sdb1 / ext4 rw 0 0\n'              # another source
	printf 'one /mnt tmpfs ro 0 0\r\n'               # other options, CR LF
	printf 'two /mnt tmpfs rw,x-b=1 1 2 more\n'      # numbers, and more
	printf 'two /mnt tmpfs rw 0 0\n'                 # there is one of these
	printf '# words\n\n'
	printf 'inner /mnt/in tmpfs rw zero 0\n'         # no number
	printf 'above /a tmpfs rw\0 0 0\n'               # a NUL
	printf 'gar\\bage\n'
	printf 'usb /media/u\\040s\\033b vfat rw,pass=hunter2 0 0\n'
	printf 'namesake /a/c tmpfs rw 0 0\n'            # the source tells
	printf '/dev/sda1 /del ext4 rw'                  # cut
} >bad
status recover -F "$stacked" bad
status recover -F "$stacked" --all --check bad 2>/dev/null
getmnt recover -F "$stacked" --print bad >made
cmp made good && echo same
echo "== order"
tac good >bad
status recover -F "$stacked" bad
echo "== an order that is of no account, spacing, escapes"
sed 's/ /\t /; s|/gone|/\\147one|' good >other
status recover -F "$stacked" other
sed -i '$!d' other
getmnt recover -F "$stacked" --diff other 2>&1 | sed "s|$PWD|DIR|"
echo "== secrets are masked in messages, and not in the file"
getmnt recover -F "$host" -p missing >good
grep -c 'hunter2\|joe:secret' good
sed 's/rw,/ro,/' good >bad
sed -i 's/password=hunter2/password=hunter3/; s/joe:secret@host/joe:other@host/' bad
getmnt recover -F "$host" bad 2>&1 | grep '/mnt/'
getmnt recover -F "$host" --json bad | grep -c 'hunter\|joe:[so]'
echo "== names"
getmnt recover -F "$(table mountinfo-names)" -p missing >good
status recover -F "$(table mountinfo-names)" good
