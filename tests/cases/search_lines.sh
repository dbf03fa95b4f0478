# Plain paths are made by the workers, many at a time: they are those that are
# found one by one, in every place that a path can have; and as many are counted,
# of which no path is made.
mkdir -p t/a/b/c t/d 't/n
l/x' t/empty
touch t/a/{1..400}.c t/a/b/{1..40}.h t/a/b/c/x t/d/y 't/n
l/x/z'
ln -s ../a t/d/to
ln -s nowhere t/d/dangling
long=t/long
for i in 1 2 3 4 5; do long=$long/$(printf "%0199d" "$i"); done
mkdir -p "$long"
touch "$long/deep" "$long/../beside"
both()
{
	getmnt search -0 "$@" | sort -z >lines
	getmnt search --format=jsonl "$@" | python3 -c '
import json, os, sys
for line in sys.stdin:
    sys.stdout.buffer.write(os.fsencode(json.loads(line)["path"]) + b"\0")' | sort -z >each
	getmnt search "$@" | tr -d "\n" | wc -c >bytes
	for sort in "" --sort=name; do
		counted=$(getmnt search --count $sort "$@")
		[ "$counted" = "$(tr -cd "\0" <lines | wc -c)" ] || echo "$sort $*: counted $counted"
	done
	cmp lines each && echo "$* | $(tr -cd "\0" <lines | wc -c) paths, $(cat bytes) bytes"
}
for threads in 1 4; do
	both --threads=$threads "*" t
	both --threads=$threads "*" t/ t/a/ ./t//d t/empty
	both --threads=$threads "*[05].?|b/*|deep" t
	both --threads=$threads --type=d,l "*" t
	both --threads=$threads -L "*" t/d t/a
	both --threads=$threads --access=r "*c*" t
	both --threads=$threads "/a/b/*|/d/y" t
	both --threads=$threads "/d/y" t t/a
	both --threads=$threads -L "/d/to" t
	both --threads=$threads -L "/d/to/1.c" t
done
(cd / && both "/etc/hostname|/etc/passwd" / | sed 's/[0-9]* bytes//') 2>&1
both "t/a/b/*" .
both "x" . t/a/b/c
getmnt search --stats "*" t 2>&1 >/dev/null | grep "^directories"
getmnt search --count "*" t
getmnt search "*" t 2>told >/dev/full
echo "status $?, $(cat told)"
