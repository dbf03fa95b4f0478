# search --exec, --exec-dir, --exec-batch: a command for what is found.
umask 022
mkdir -p t/sub.d -- -dash
touch t/a.txt t/b.tar.gz t/.hidden t/noext t/end. $'t/new\nline' 't/two words' t/sub.d/c.txt -- -dash/-x
show() { getmnt search "$@" --exec printf '<%s>' {} '{/}' '{//}' '{.}' '{/.}' \; --sort=PATH 2>&1; echo " status $?"; }
for name in a.txt b.tar.gz .hidden noext end. c.txt 'two words' 'new*' sub.d; do
	show "$name" t
done
getmnt search --exec printf '<%s>' {} '{/}' '{//}' '{.}' '{/.}' \; -- -x -dash
echo
(cd t && show a.txt)
show a.txt "$PWD/t" | sed "s|$PWD|PWD|g"
show a.txt t/a.txt
echo "== words with more in them, braces that are none, no place for the path"
getmnt search a.txt t --exec echo 'x{}y{/.}z' '{' '{}}' '{{}}' '{/' '{x}'
getmnt search '*.txt' t --sort=-NAME --exec echo one
getmnt search --exec echo options first \; -e '*.txt' --exclude=sub.d t
getmnt search --type=f '*' t --sort=-NAME --top=2 --exec echo top
getmnt search '*' t --sort=name --maxdepth=1 --first --exec echo | wc -l
echo input | getmnt search a.txt t --exec cat
echo "== names that look like options"
mkdir -p 'o/-d'
touch o/-rf o/-.txt o/-d/-rf
getmnt search -e '-*' --sort=PATH --exec printf '<%s>' {} '{/}' '{//}' '{.}' '{/.}' 'x{/}' '{/}{}' \; -- o
echo
(cd o && getmnt search -e '-*' --sort=PATH --exec printf '<%s>' {} '{/}' '{//}' '{.}' '{/.}' 'x{/}' '{/}{}')
echo
echo "== in the directory"
# shellcheck disable=SC2016
getmnt search -e '-*' --sort=name --exec-dir sh -c 'printf "<%s>" "${PWD##*/}" "$@"; echo' sh {} '{/}' '{//}' '{.}' '{/.}' 'x{/}' \; -- o | sort
# shellcheck disable=SC2016
getmnt search '*.txt' t --exec-dir sh -c 'echo "${PWD##*/} $1"' sh | sort
status search a.txt t/a.txt t/./a.txt --exec-dir cat -- {} 2>&1
(cd t && getmnt search a.txt a.txt --exec-dir echo)
status search '*' t --first --sort=name --exec-dir echo
status search '*.txt' t --exec-dir false 2>&1
status search '*.txt' t --exec-dir nosuch 2>&1
for path in .:/usr/bin :/usr/bin /usr/bin: bin:/usr/bin; do
	PATH=$path "$GETMNT" search a.txt t --exec-dir true 2>&1
	echo "status $?"
done
printf '#!/bin/sh\necho a command of the searched directory\n' >t/nosuch2
chmod +x t/nosuch2
status search a.txt t --exec-dir nosuch2 2>&1
echo "== a batch"
getmnt search '*.txt' t --sort=PATH --exec-batch echo
getmnt search '*.txt' t --sort=PATH --exec-batch echo before {} after
getmnt search --exec-batch printf '<%s>\n' \; -- -x -dash
status search nothing t --exec-batch echo never
mkdir many
seq -f 'many/%0200g' 30000 | xargs touch
getmnt search '*' many --exec-batch sh -c 'echo $#' sh >counts
awk '{ n += $1 } END { print n, (NR > 1 ? "in parts" : "at once") }' counts
getmnt search '*' many --exec-batch sh -c 'echo $#' sh {} last | awk '{ n += $1 - 1 } END { print n }'
echo "== limits and signals of a command are ours"
# Of the signals 1 to 28: the C library uses 32 and 33 itself.
# shellcheck disable=SC2016
state='ulimit -n; sed -nE "s/^(Sig(Blk|Ign):).*(.{7})$/\1\3/p" /proc/self/status'
[ "$(getmnt search --threads=4 a.txt t --exec sh -c "$state")" = "$(sh -c "$state")" ] && echo same
[ "$(getmnt search a.txt t --exec-batch sh -c "$state")" = "$(sh -c "$state")" ] && echo same
echo "== failures"
status search '*.txt' t --exec false 2>&1
status search '*.txt' t --exec-batch false 2>&1
status search '*.txt' t --exec nosuch 2>&1
status search '*.txt' t --exec-batch nosuch 2>&1
status search '*.txt' t --sort=NAME --exec ./t 2>&1
status search 'a.txt' t --exec sh -c 'kill -9 $$' 2>&1
status search 'a.txt' t t/none --exec echo 2>&1
echo "== bad"
while IFS= read -r args; do
	echo "$args"
	eval "status search $args" 2>&1 | grep -v '^Try'
done <<'ARGS'
--exec echo x t
x t --exec
x t --exec ';'
x t --exec-batch \; -l
x t --exec=ls
x t --exec-b ls
x t --exec ls \; --exec-batch ls
x t -l --exec ls
x t -o SIZE --exec ls
x t --count --exec ls
x t -J --exec ls
x t -0 --exec ls
x t --usage --exec ls
x t --exec-batch ls {} {}
x t --exec-batch ls x{}
x t --exec-batch {} ls
x t --exec-batch ls {/}
x t --exec-dir
x t --exec-dir=ls
x t --exec-dir ls \; --exec ls
x t --sort=PATH --exec-dir ls
x t --sort=-SIZE --top=3 --exec-dir ls
x t --delegate --exec-dir ls
x t -l --exec-dir ls
x ssh://host/t --exec-dir ls
x ssh://host/t --exec ls
ARGS
