# What getmnt fstab and genfstab refuse, and with which status.
host=$(table cli/host)
: >f
for args in --nosuch --id=x --id "-F $host --options=keep" --options=x '-F' "-F nosuch" "-F $host relative" "/ /" '/nowhere' \
	"-F $host --genfstab" "-F $host --swaps=nosuch /srv/data" "--swaps=nosuch" --add=/x --base=x --fix=source --check --diff --write --yes --force --force-file --no-backup \
	"--merge --fix=x" "--merge --fix=" "--merge --add=" "--merge --add=/a,,/b" "--merge=" "--merge --diff --check" \
	"--merge --yes" "--merge --options=keep --fix=options" "-F $host --merge" "-F $host --merge=." \
	"-F $host --merge --base=nosuch f" "-F $host --merge a b c" "-F $host --merge nosuch" "--merge nosuch"; do
	# shellcheck disable=SC2086
	getmnt fstab $args >out 2>err
	echo "status $?, $(wc -c <out) bytes: ${args//$TOP\/tests\/fixtures\//}: $(head -n 1 err)"
done
ln -s "$GETMNT" genfstab
genfstab()
{
	# shellcheck disable=SC2086
	${GETMNT_WRAP-} ./genfstab "$@"
	echo "status $?"
}
genfstab
genfstab -h | head -n 1
genfstab --help | tail -n 1
genfstab -x /
genfstab -t ID /
genfstab -t
genfstab -U
genfstab -U /nowhere
mkdir here
genfstab -U here
status fstab --genfstab -L
status fstab --help
