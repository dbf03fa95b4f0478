# FIFOs instead of files: a late writer is waited for, for a while.
umask 022
printf '1 0 8:1 / / rw - ext4 /dev/sda1 rw\n' >table
printf '/dev/sda1 / ext4 defaults 0 1\ntmpfs /t tmpfs defaults 0 0\n' >fstab
printf 'Filename\tType\tSize\tUsed\tPriority\n/x partition 1024 0 -2\n' >swaps
printf 'require /var mountpoint\n' >conf
mkdir -p root/etc/getmnt drop/etc/getmnt/audit.conf.d
mkfifo root/etc/getmnt/audit.conf drop/etc/getmnt/audit.conf.d/a.conf

# of FILE ARGS: the options with FILE, a FIFO there, into a file of its own.
of()
{
	local name=$1
	shift
	getmnt audit "$@" >"$name.out" 2>&1
	echo "status $?" >>"$name.out"
}
only=--only=DRIFT-NOT-MOUNTED,SWAP-EXTRA,POLICY-PARTITION
known=(--fstab=fstab --swaps=swaps --config=conf -F table)

for pipe in fstab swaps config table baseline; do
	mkfifo late-$pipe never-$pipe
done
rm late-baseline
for when in late never; do
	of $when-fstab -F table --swaps=swaps --config=conf $only --fstab=$when-fstab &
	of $when-swaps -F table --fstab=fstab --config=conf $only --swaps=$when-swaps &
	of $when-config -F table --fstab=fstab --swaps=swaps $only --config=$when-config &
	of $when-table --fstab=fstab --swaps=swaps --config=conf $only -F $when-table &
done
of never-baseline "${known[@]}" --baseline=never-baseline &
sleep 0.2
for pipe in fstab swaps table; do
	timeout 60 cat $pipe >late-$pipe &
done
timeout 60 cat conf >late-config &
wait
for out in late-*.out never-*.out; do
	echo "== ${out%.out}"
	cat "$out"
done
echo "== who writes nothing"
getmnt audit -F table --fstab=<(true) --config=none $only
echo "status $?"
echo "== what has no name, of this machine"
printf 'tmpfs /t tmpfs noauto,nosuchoption 0 0\n' >here
getmnt audit --fstab=<(cat here) --config=<(echo 'severity critical FSTAB-OPT-UNKNOWN') --only=FSTAB-OPT-UNKNOWN | sed 's|/dev/fd/.*|PIPE|'
echo "status ${PIPESTATUS[0]}"
# shellcheck disable=SC2002
cat here | getmnt audit --fstab=/dev/stdin --config=none --only=FSTAB-OPT-UNKNOWN | tail -n 1
echo "== nobody is waited for where a file has its usual place"
for root in root drop; do
	getmnt audit --root=$root 2>&1 | sed "s|$PWD|HERE|"
	echo "status ${PIPESTATUS[0]}"
done
