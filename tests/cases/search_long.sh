# search -l: aligned as it comes, as ls -l has it.
umask 022
mkdir -p t/d
touch 't/sp ace' $'t/esc\e[2J' t/suid t/one
ln -s $'no\nwhere' t/link
chmod 6755 t/suid
chmod 0640 t/one
chmod 1777 t/d
truncate -s 123456789012 t/zbig
mkfifo t/fifo
chmod 600 t/fifo
find t -exec touch -h -d '2001-02-03 04:05:06 UTC' {} +
me=$(id -un) group=$(stat -c %G t/one)
long() { getmnt search -l "$@" | sed -E "s/ $me +$group +/ USER GROUP /; s/^(d.* GROUP) [0-9]+/\\1 SIZE/"; }
for name in one suid link fifo d "sp*" "esc*"; do long "/$name" t; done
echo "== the hour of here"
TZ=Etc/GMT-3 long one t
echo "== widths grow, and stay"
(cd t && getmnt search -l "/zbig" . && getmnt search --type=f --sort=name -l "*" . | awk '{ print index($0, "2001-02-03") }' | sort -un | wc -l) | sed -E "s/ $me +$group +/ USER GROUP /"
echo "== as ls -l has them"
a=$(getmnt search -l "suid|one|fifo" t | awk '{ print $1, $2, $3, $4, $5 }' | sort)
b=$(cd t && stat -c '%A %h %U %G %s' suid one fifo | sort)
[ "$a" = "$b" ] && echo same || echo "$a"
getmnt search -l "/null|/zero" /dev | awk '{ print $1, $5, $6, $NF }' | sort
echo "== bad"
status search -l -o PATH "*" t 2>&1
status search -l -m "*" t 2>&1
status search -l --count "*" t 2>&1
