# getmnt recover: mnttab as on System V, and what setmnt(1M) reads.
stacked=$(table cli/stacked)
getmnt recover -F "$stacked" -p mnttab >new
cat -A new
cp new mnttab
status recover -F "$stacked" mnttab
# Times are kept of lines that are right; 0 is one that is not known.
sed '1s/0$/1000/; 2s/0$/12x/; 3s/two\(.*\)0$/2\12000/; 4s/0$/99999999999999999999/; 5s/\t0$//' new >mnttab
status recover -F "$stacked" mnttab
getmnt recover -F "$stacked" --format=mnttab -p mnttab | cut -f 5 | tr '\n' ' '
echo
echo "== the format that most lines have, not the name"
verdict() { getmnt recover -F "$stacked" "$@" 2>&1 >/dev/null | tail -n 1; }
getmnt recover -F "$stacked" -p missing >copy
sed 's/\t0$/\t1700000000/' new >timed
for name in mtab mnttab old.mnttab; do
	for text in copy timed; do
		cp $text $name
		verdict $name
	done
done
# Damage does not change it; a name counts if no line shows a format.
sed '1s/ 0 0$//; 2d' copy >mnttab
verdict mnttab
: >mnttab
verdict mnttab
verdict --format=mnttab copy
getmnt recover -F "$stacked" --diff mnttab 2>/dev/null | sed -n '4p' | cat -A
echo "== setmnt"
getmnt recover -F "$(table mountinfo-names)" --format=setmnt -p missing >pairs
getmnt -F "$(table mountinfo-names)" --format=setmnt | diff - pairs && echo same
status recover -F "$(table mountinfo-names)" --format=setmnt pairs
sed -i '3s/^[^ ]*/x/; 4s/$/ more/; 5d' pairs
status recover -F "$(table mountinfo-names)" --format=setmnt pairs
getmnt recover -F "$(table mountinfo-names)" --format=setmnt -J pairs | sed -n '5,6p'
echo "== what is printed is read as the same by others"
getmnt recover -F "$(table mountinfo-names)" -p missing >mtab
getmnt --format=mtab -F "$(table mountinfo-names)" | diff - mtab && echo same
getmnt -m -F mtab --format=mtab | diff - mtab && echo same
