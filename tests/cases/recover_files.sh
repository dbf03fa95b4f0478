# getmnt recover: what FILE can be, and how it is written.
unset GETMNT_MARK
host=$(table cli/host)
getmnt recover -F "$host" -p missing >good
shown() { sed "s|$PWD|DIR|g; s/getmnt-[0-9TZ]*/getmnt-TIME/g; s/ on [^ ]* of .*, mounted on .*/ on FS/"; }
say() { echo "== $*" | shown; getmnt recover -F "$host" "$@" 2>&1 </dev/null | grep -v ': missing: /\|^+[^+]\|^-[^-]\|^@@\|lines removed' | shown; echo "status ${PIPESTATUS[0]}"; }
mkdir etc run dir
echo "= links to the kernel's table are right, wherever they hang"
for to in /proc/mounts /proc/self/mounts ../proc/self/mounts /proc/1/mounts /proc/thread-self/mounts \
	/proc/self/task/1/mounts ./../../../../../../../proc/self/../mounts ../../../../../../../../proc/./self//mounts; do
	ln -sfn "$to" etc/mtab
	case $to in
	../proc*) say --root="$PWD" /etc/mtab; say --root="$PWD" --json /etc/mtab | grep '"link"\|"right"\|status' ;;
	*) say etc/mtab ;;
	esac
done
ln -sfn etc/mtab link
say link
ln -sfn /proc proc
ln -sfn ../proc/self/mounts etc/mtab
say etc/mtab
say --write --yes etc/mtab
rm proc
echo "= others of the kernel's are not"
ln -sfn /proc/self/mountinfo etc/mtab
say etc/mtab
ln -sfn /proc/self/status etc/mtab
say --json etc/mtab | grep '"link"\|"right"\|status'
say /proc/self/mountinfo
echo "= a link is replaced by a file only by --force-file"
ln -sfn /proc/self/mounts etc/mtab
say --write --yes --force-file etc/mtab
stat -c '%F %a' etc/mtab
diff good etc/mtab && echo same
say etc/mtab
echo "= another is followed once, and its target's directory written"
sed 3d good >run/mtab
chmod 640 run/mtab
ln -sfn ../run/mtab etc/mtab
say --write --yes etc/mtab
readlink etc/mtab
find etc run ! -name "[er]*" -printf "%p\n" | sort | shown
stat -c '%F %a' run/mtab
diff good run/mtab && echo same
echo "= a file that is missing"
say nosuch
say --check nosuch
say --json nosuch
ln -s nowhere/at-all dangling
say dangling
mkdir bare
say --root="$PWD/bare" /etc/mtab
mkdir bare/etc
say --root="$PWD/bare" /etc/mtab
say --diff nosuch
test -e nosuch || echo "not created"
say --write --yes dir/mtab
stat -c '%F %a' dir/mtab
diff good dir/mtab && echo same
say --write --yes nowhere/mtab
ln -sfn loop loop
say loop
echo "= right is right: no byte is changed"
sort -k 2 good | sed 's/ /\t/; s/rw,relatime/relatime,rw/' >mtab
{ echo '# kept'; grep -P '\t/ ' mtab; grep -vP '\t/ ' mtab; } >mtab2
cp mtab2 before
say --write --yes mtab2
cmp before mtab2 && echo same
echo "= what is no file"
mkfifo fifo
say fifo
say dir
say /dev/null
say /dev/zero
truncate -s 1G big
say big
truncate -s 65M big
say big
rm big
python3 -c 'print("\n" * 3000000)' >blank
say blank
rm blank
: >empty
say empty
head -c 100000 /dev/zero >zero
say zero
head -c 100000 /bin/sh >binary
getmnt recover -F "$host" binary >out 2>&1
echo "status $?, $([ "$(grep -c '^binary:[0-9]' out)" -gt 10 ] && echo told)"
getmnt recover -F "$host" -p binary | diff - good && echo same
echo "= standard output is the file itself"
cp good mtab
# shellcheck disable=SC2094
getmnt recover -F "$host" -p mtab >>mtab
echo "status $?"
cmp good mtab && echo same
# shellcheck disable=SC2094
getmnt recover -F "$host" mtab >>mtab
echo "status $?"
cmp good mtab && echo same
echo "= the kernel's own table, which is not the recorded one; and nobody writes it"
getmnt recover -F "$host" /proc/self/mounts >out 2>&1
echo "status $?$(grep -q '^/proc/self/mounts: missing: ' out && echo ', told')"
getmnt recover -F "$host" --write --yes /proc/self/mounts >out 2>&1
echo "status $?"
echo "= with --force-file that it is a link is what is wrong"
ln -sfn ../good etc/mtab
say etc/mtab
say --force-file etc/mtab
say --force-file good
echo "= no question without a terminal"
sed -i 1d mtab
say --write mtab | tail -n 3
echo "= a last line that ends in a CR alone"
{ head -c -1 good; printf '\r'; } >cr
say cr | tail -n 2
