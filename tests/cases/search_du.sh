# search --usage: forms, orders and bad arguments; tests/system/search_usage.py compares sizes with du.
umask 022
mkdir -p t/a/deep/er t/b 't/sp ace' t/none
# Blocks and directories differ between file systems: with --apparent-size they do not count.
head -c 1000 /dev/zero >t/a/1000
head -c 2000 /dev/zero >t/a/deep/2000
head -c 100 /dev/zero >t/a/deep/er/100
head -c 30000 /dev/zero >t/b/30000.iso
head -c 7 /dev/zero >'t/sp ace/7.iso'
head -c 5 /dev/zero >$'t/new\nline'
ln t/b/30000.iso t/a/link.iso
ln -s 1000 t/a/symlink
usage() { echo "$*:"; getmnt search --apparent-size "$@" 2>&1; }
usage --usage '*' t
usage --usage=0 -b '*' t/ t/b/
usage --usage=0 -b '*' t ./t t/b/.. t/b t/none1 t/none1 t
usage --usage=1 -b '*' t
usage --usage=2 -b '*.iso' t
usage --usage=9 '[0-9]*' t
usage --usage=1 -b '*' ./t t | head -n 3
(cd t && usage --usage=1 -b '*')
usage --usage=1 --sort=-SIZE --top=3 '*' t
usage --usage=1 --sort=size '*' t
usage --usage=9 --sort=-path -b '*.iso' t t/a
usage --usage -0 -b '*' t | od -An -c
usage --usage-by=type '*' t
usage --usage-by=type --usage=1 --type=f,l -b '*' t
usage --usage-by=type --format=jsonl 'symlink|*.iso' t
usage --usage=1 -J '*' t t/file | grep -v version
usage --usage nothing t
echo "== tests select PATH too, and files can be one"
touch t/.hidden
for args in '--size=+1k --type=f' --empty --no-hidden --type=d --exclude=deep; do
	# shellcheck disable=SC2086
	usage --usage=1 $args -b -J '*' t t/a/1000 | grep -e '^--' -e '"path"'
done
usage --usage -b 1000 t/a/1000
rm t/.hidden
usage --usage-by=user nothing t
echo "== names of owners"
me=$(id -un) group=$(id -gn)
getmnt search --usage-by=user -b --apparent-size --type=f '*.iso' t | sed "s/\t$me\t/ USER /"
getmnt search --usage-by=group --apparent-size --type=f '*.iso' t -J | sed "s/\"$group\"/GROUP/" | grep path
echo "== disk space is that of du"
rm t/a/link.iso
[ "$(getmnt search --usage=9 -b '*' t | sort)" = "$(du -B1 t | sort)" ] && echo same
[ "$(getmnt search --usage -b --stats '*' t 2>stats)" = "$(du -s -B1 t)" ] && grep -o 'found.*' stats
echo "== bad"
while IFS= read -r args; do
	echo "$args"
	eval "status search $args" 2>&1 | grep -v '^Try'
done <<'ARGS'
--usage t
--usage ./t/
--usage=x '*' t
--usage=-1 '*' t
--usage= '*' t
--usage-by '*' t
--usage-by=size '*' t
--usage -l '*' t
--usage-by=type -o PATH '*' t
--usage -m '*' t
--usage --count '*' t
--usage --first '*' t
--usage --sort=MTIME '*' t
--usage --top=1 '*' t
--usage -J -0 '*' t
--apparent-size '*' t
ARGS
