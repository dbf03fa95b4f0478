# Colours, as LS_COLORS has them; what it has that is no colour does no harm.
umask 022
mkdir -p t/d t/sticky t/open t/both
touch t/plain t/x.tar t/x.tar.gz t/run t/suid t/sgid t/run.tar $'t/esc\e[2J'
ln -s nowhere t/link
mkfifo t/fifo
chmod 755 t/run t/run.tar
chmod 4755 t/suid
chmod 2755 t/sgid
chmod 1755 t/sticky
chmod 777 t/open
chmod 1777 t/both
ln t/plain t/plain2
colors() { getmnt search --color=always "$@" 2>&1 | LC_ALL=C sort | cat -v; }
echo "== without LS_COLORS"
colors "*" t
export LS_COLORS='di=34:ln=target:ex=32:*.gz=31:*.tar.gz=35:*.tar=36:mh=7:fi=0:ow=0:tw=00;0:*.c=33:*.c=0'
echo "== $LS_COLORS"
colors "*" t
echo "== long"
colors -l "/d|/x.tar|/link" t | sed 's/.*[0-9] //'
echo "== hostile"
hostile() { echo "-- $1"; LS_COLORS=$1 colors "/d|/x.tar|/plain" t; }
hostile $'di=\e]0;title\a'
hostile $'di=31m\e[2J:*.tar=31\n'
hostile 'lc=X:rc=Y:ec=Z:no=5:di=31'
hostile 'di=\e[31:*.tar=^[31:fi=31x'
hostile "di=$(printf '1;%.0s' {1..40})"
hostile ':::=:=31:di:d=31:dir=31:*=31:*.tar=:di='
hostile '*'
hostile 'di=1;31:'
echo "== never, auto, always"
getmnt search --color=never "/d" t
getmnt search --color=auto "/d" t
getmnt search --color "/d" t | cat -v
NO_COLOR=1 getmnt search --color=always "/d" t | cat -v
getmnt search --color=always -o PATH "/d" t
getmnt search --color=always -0 "/d" t | tr '\0' '\n'
getmnt search --color=always --format=jsonl "/d" t
status search --color=green "/d" t 2>&1
echo "== other commands"
printf 'tmpfs /a tmpfs size=1m 0 0\n# end\n' >tab
for args in "fstab --merge=tab --diff --add=persistent --fix=options" "fstab --merge=tab --diff --add=persistent --color=never" \
	"audit --fstab=tab" "discover -l -o TARGET,STATE"; do
	# shellcheck disable=SC2086
	getmnt $args --color -F "$(table cli/stacked)" 2>/dev/null | head -n 6 | sed "s|$PWD/||" | cat -v
done
