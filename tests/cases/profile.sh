# Usage errors of getmnt profile; nothing is run.
say()
{
	getmnt profile "$@" >out 2>err </dev/null
	echo "status $?, $(wc -c <out) bytes: $*: $(head -n 1 err)"
}
for args in --nosuch / /usr/../. "--live /srv" --cold "/srv /home" "--repeats=0 /srv" "--repeats=x /srv" "--repeats=1001 /srv" \
	"--seed=-1 /srv" "--max-time=0 /srv" "--max-time=x /srv" "--total-time=-1 /srv" "--seed=1 --seed=2"; do
	# shellcheck disable=SC2086
	say $args
done
say ""
status profile --help
# The hint names the help of this command.
getmnt profile --nosuch 2>&1 | tail -n 1
