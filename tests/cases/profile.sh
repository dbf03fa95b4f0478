# What getmnt profile refuses, and with which message; nothing is built or run.
say()
{
	getmnt profile "$@" >out 2>err </dev/null
	echo "status $?, $(wc -c <out) bytes: $*: $(head -n 1 err)"
}
for args in --nosuch / /usr/../. "--live /srv" "--topology=x /srv" "--topology=x --live" --cold "--topology=x --cold" "/srv /home" \
	--repeats=0 --repeats=x --repeats=1001 --seed=-1 --max-time=0 --max-time=x --total-time=-1 "--seed=1 --seed=2" --topology= \
	--topology=nosuch --topology=.; do
	# shellcheck disable=SC2086
	say $args
done
say ""
status profile --help
# What is built in is a topology; what is wrong with one is told with its line.
getmnt profile --print-topology >builtin
echo "status $?, $(grep -c ^mount builtin) mounts"
while IFS= read -r line; do
	printf 'mount /a\n%b\n' "$line" >topology
	say --topology=topology
done <<'LINES'
umount /a
mount /b/../../etc
dirs /b 7 2 2
mount /\x1b[31m/..
LINES
printf 'mount /a\0b\n' >topology
say --topology=topology
printf '25 1 8:1 / / rw - ext4\n' >topology
say --topology=topology
# The help that is named is that of the command.
getmnt profile --nosuch 2>&1 | tail -n 1
