#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [--getmnt PROGRAM] [PATTERN...]
#
# Runs the cases tests/system/NAME.py, and those here, on Debian's stock kernel
# 6.1, in two virtual machines at the same time, under emulation: a kernel
# without listmount, statmount, 64-bit mount IDs and mount events, that has NFS,
# 9p, device mapper, md and the file systems of old.
#
# Kernel and tools that a machine needs and this system lacks are downloaded once,
# by apt-get, into build/vm and unpacked there, never installed.  The rest of the
# disk is what is installed here.  Needs qemu-system-x86_64 and no root.  A
# machine that computes for a while and says nothing, or takes too long, is killed, and
# that is a failure.  build/vm/N.log is all that machine N printed.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/runner.sh
. "$here/../lib/runner.sh"
top=$(cd "$here/../.." && pwd)
getmnt=$top/build/debug/getmnt
vm=${GETMNT_VM_DIR:-$top/build/vm}
machines=${GETMNT_VM_MACHINES:-2}
limit=${GETMNT_VM_SECONDS:-4500}    # for a machine, from start to end
silence=600                         # of its CPU time, for what it prints next

while [ $# -gt 0 ]; do
	case $1 in
	--getmnt) getmnt=$2; shift ;;
	-*) sed -n 's/^# \{0,1\}//; 3,18p' "$0"; exit 1 ;;
	*) break ;;
	esac
	shift
done

# Packages that are on the disk: those installed here, with what they depend
# on; those that are downloaded.
installed=(bash coreutils sed grep gawk findutils diffutils util-linux mount procps hostname iproute2
	libc-bin dash python3 strace e2fsprogs btrfs-progs xfsprogs squashfs-tools dmsetup passwd
	openssh-client dropbear-bin libaio1 libevent-core-2.1-7)
downloaded=(kmod libkmod2 nfs-kernel-server nfs-common libnfsidmap1 libwrap0 libevent-core-2.1-7 libtirpc3
	lvm2 liblvm2cmd2.03 libdevmapper-event1.02.1 libaio1 dmsetup libdevmapper1.02.1
	mdadm dosfstools f2fs-tools udftools genisoimage libmagic1 netbase rpcbind fdisk libfdisk1 exfatprogs jfsutils)

unused='gpu|media|net|staging|infiniband|usb|iio|hwmon|input|platform|hid|i2c|mmc|mtd|bluetooth|thermal|comedi|ata|leds|rtc|power|mfd|pinctrl|isdn|message|accel|pci|pcmcia|firewire|watchdog|w1|spi|edac|extcon|regulator|tty|video|crypto|acpi|bus|clk|counter|dca|firmware|gpio|hsi|hv|mcb|misc|ntb|perf|phy|powercap|ptp|soundwire|ssb|thunderbolt|uio|vdpa|vfio|vhost|xen'

# How long cases take in a machine, in seconds, where it is more than a few: they
# are shared out by that.
seconds_of()
{
	case $1 in
	vm/fstab) echo 200; return ;;
	esac
	case ${1#*/} in
	index_in_place | index_report | index_update) echo 260; return ;;
	index_search) echo 120; return ;;
	planted) echo 170; return ;;
	audit_watch | opened | audit_state) echo 80; return ;;
	audit_b* | index_*) echo 60; return ;;
	audit_host | audit_policy) echo 40; return ;;
	automount | names | strace | poll_storm | probe_autofs | order | scale_wide | stacked | nfs_delegate) echo 90 ;;
	scale_* | bare | churn | nfs | vanish | fstab) echo 50 ;;
	audit_covered | audit_holders | contrib | audit_users | denied | trees | suspended | soak* | search | poll | probe | no_proc | oldtypes | fstab_merge | recover) echo 30 ;;
	probe* | terminal_signals | trees_large | blocking | stands | p9) echo 18 ;;
	*) echo 8 ;;
	esac
}

# Without it: a skip, but where all is to be run a failure.
cannot()
{
	echo "skip: $*"
	if [ -n "${GETMNT_REQUIRE_ROOT-}" ]; then
		echo "FAIL: GETMNT_REQUIRE_ROOT is set"
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	fi
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

die()
{
	echo "FAIL run.sh: $*"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

command -v qemu-system-x86_64 >/dev/null || cannot "there is no qemu-system-x86_64: make deps-vm"
command -v mkfs.ext4 >/dev/null || PATH=$PATH:/usr/sbin:/sbin
command -v mkfs.ext4 >/dev/null || cannot "there is no mkfs.ext4"
command -v apt-get >/dev/null || cannot "there is no apt-get"
[ "$(dpkg --print-architecture)" = amd64 ] || cannot "this is not amd64"
getmnt=$(realpath -e "$getmnt") || die "no such program; make it first"
mkdir -p "$vm/debs" || exit 1
while read -r library; do
	installed+=("$(dpkg -S "*/$library" | sed -n '1s/:.*//p')")
done < <(ldd "$getmnt" | awk '$2 == "=>" { print $1 }')

# The kernel.
kernel_package=$(apt-cache depends linux-image-amd64 2>/dev/null |
	sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
stock=$(cat "$vm/kernel/name" 2>/dev/null)
[ -n "$stock" ] || stock=$kernel_package
case $stock in
linux-image-6.1.*) ;;
*) cannot "this release has no kernel 6.1" ;;
esac

# download DIRECTORY PACKAGE...: into build/vm/DIRECTORY, unpacked.
download()
{
	local dir=$vm/$1 deb
	shift
	[ "$(cat "$dir/name" 2>/dev/null)" = "$*" ] && return 0
	echo "download: $*"
	rm -rf "$dir" "$vm/debs"
	mkdir -p "$dir" "$vm/debs"
	(cd "$vm/debs" && apt-get -q -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root download "$@") </dev/null |
		sed 's/^Get:/  &/' || return 1
	for deb in "$vm"/debs/*.deb; do
		dpkg -x "$deb" "$dir" || return 1
	done
	rm -rf "$vm/debs"
	echo "$*" >"$dir/name"
}
download kernel "$stock" || cannot "the kernel cannot be downloaded"
download extra "${downloaded[@]}" || cannot "the tools cannot be downloaded"
version=${stock#linux-image-}

# The disk: all that is installed of the packages, but for what nobody reads here.
make_root()
{
	echo "disk: build/vm/root.img"
	rm -rf "$vm/root" "$vm/root.img"
	mkdir -p "$vm/root/usr"/{bin,sbin,lib,lib64} "$vm/root"/{proc,sys,dev,run,tmp,getmnt,root,etc,var/lib,mnt}
	for dir in bin sbin lib lib64; do
		ln -s "usr/$dir" "$vm/root/$dir"
	done
	apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "${installed[@]}" 2>/dev/null | grep '^[a-z]' | sort -u |
		grep -vE '^(perl|debconf|systemd|dpkg|libperl|gcc-12-base|libicu|libstdc)' |
		while read -r package; do dpkg -L "$package" 2>/dev/null; done | sort -u |
		grep -vE '^/usr/(share/(doc|man|locale|info|lintian|bug|zsh|bash-completion|fish)|include)|\.a$|/(test|tests|__pycache__)/|^/(etc/(init.d|cron|systemd)|usr/lib/systemd|lib/systemd)' |
		while read -r file; do
			[ -d "$file" ] && [ ! -L "$file" ] && continue
			[ -e "$file" ] && echo "$(realpath -e "$(dirname "$file")")/$(basename "$file")"
		done | tar -c --no-recursion -f - -P -T - 2>/dev/null | tar -x -f - -C "$vm/root" --strip-components=0 2>/dev/null
	for dir in bin sbin lib usr etc; do
		[ ! -d "$vm/extra/$dir" ] || cp -a "$vm/extra/$dir/." "$vm/root/$dir/"
	done
	rm -rf "$vm/root/usr/share/doc" "$vm/root/usr/share/man" "$vm/root/usr/share/locale"
	for link in awk:gawk which:which.debianutils; do
		ln -sfn "${link#*:}" "$vm/root/usr/bin/${link%:*}"
	done
	(cd "$vm/kernel" && find "lib/modules/$version" -type f |
		grep -vE "/(sound|drivers/($unused))/" | tar -c -T - ) | tar -x -C "$vm/root/usr" || die "modules"
	cp /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.conf "$vm/root/etc/"
	grep -q '^_rpc:' /etc/passwd || echo '_rpc:x:101:65534::/run/rpcbind:/usr/sbin/nologin' >>"$vm/root/etc/passwd"
	cp -a /etc/ld.so.conf.d "$vm/root/etc/"
	ln -s /proc/mounts "$vm/root/etc/mtab"
	printf '127.0.0.1 localhost vm\n' >"$vm/root/etc/hosts"
	ldconfig -r "$vm/root" 2>/dev/null || /sbin/ldconfig -r "$vm/root"
	ln -sf kmod "$vm/root/usr/bin/depmod"
	ln -sf ../bin/kmod "$vm/root/usr/sbin/modprobe"
	"$vm/root/usr/bin/depmod" -b "$vm/root" "$version" || die "depmod"
	# Compiled once, whatever the times of the files.
	python3 -m compileall -q --invalidation-mode unchecked-hash "$vm/root/usr/lib/python3"* >/dev/null
	size=$(du -sm "$vm/root" | cut -f1)
	mkfs.ext4 -q -F -O ^has_journal -E root_owner=0:0 -d "$vm/root" "$vm/root.img" $((size * 5 / 4 + 200))M || die "mkfs.ext4"
}
stamp=$( (declare -f make_root; declare -p installed downloaded unused version; dpkg-query -W) | sha256sum)
if [ "$(cat "$vm/root.stamp" 2>/dev/null)" != "$stamp" ]; then
	make_root
	echo "$stamp" >"$vm/root.stamp"
fi

# The first process, and the modules that reach the disk.
{
	initrd=$vm/initrd
	rm -rf "$initrd"
	mkdir -p "$initrd"/{dev,modules.d}
	${CC:-cc} -O1 -static -o "$initrd/init" "$here/initrd.c" || die "initrd.c"
	for module in virtio_pci virtio_blk crc32c_generic crc32c_intel ext4; do
		"$vm/root/usr/sbin/modprobe" -d "$vm/root" -S "$version" --show-depends "$module"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r module; do
		cp "$module" "$initrd/modules.d/"
		echo "/modules.d/$(basename "$module")"
	done >"$initrd/modules"
	[ -s "$initrd/modules" ] || die "modprobe"
	python3 "$top/tests/lib/cpio.py" "$initrd" >"$vm/initrd.img" || die "cpio.py"
}

# The second disk.
disk=$vm/disk
rm -rf "$disk"
mkdir -p "$disk"
cp -r "$top"/{tests,bench,docs,contrib,man} "$disk/"
cp "$getmnt" "$disk/getmnt"
orders=$(dirname "$getmnt")/tests/lib/orders
[ ! -e "$orders" ] || cp "$orders" "$disk/tests/lib/"
python3 -m compileall -q --invalidation-mode unchecked-hash "$disk/tests/lib" "$disk/bench" >/dev/null
[ ! -e "$vm/debug" ] || cp "$vm/debug" "$disk/debug"
cat >"$disk/env" <<-EOF
	export GETMNT_REQUIRE_ROOT=1 GETMNT_SLOW=${GETMNT_VM_SLOW:-8} GETMNT_TEST_FSTAB=1
EOF
load=() total=0
for ((n = 1; n <= machines; ++n)); do
	load[n]=0
	: >"$disk/system.$n"
	: >"$disk/vm.$n"
done
while read -r seconds suite name; do
	least=1
	for ((n = 2; n <= machines; ++n)); do
		[ "${load[n]}" -ge "${load[least]}" ] || least=$n
	done
	load[least]=$((load[least] + seconds))
	echo "$name" >>"$disk/$suite.$least"
	total=$((total + 1))
done < <(
	for suite in system vm; do
		for case in "$top/tests/$suite"/*.py; do
			name=$(basename "$case" .py)
			chosen "$name" "$@" && echo "$(seconds_of "$suite/$name") $suite $name"
		done
	done | sort -k1,1nr
)
if [ "$total" -eq 0 ]; then
	echo "no case matches: $*"
	echo "0 passed, 0 failed, 0 skipped"
	exit 0
fi
mkfs.ext4 -q -F -O ^has_journal -E root_owner=0:0 -d "$disk" "$vm/disk.img" 64M || die "mkfs.ext4"

# An empty disk of each machine's own, for partitions.
rm -f "$vm/empty.img"
truncate -s 6G "$vm/empty.img"

# The machines.  Each has a line for the console, and a folder that it shares.
start=$SECONDS
pids=()
trap 'kill "${pids[@]}" 2>/dev/null' EXIT
trap 'exit 1' INT TERM
for ((n = 1; n <= machines; ++n)); do
	[ -s "$disk/system.$n" ] || [ -s "$disk/vm.$n" ] || continue
	mkdir -p "$vm/share"
	echo shared >"$vm/share/file"
	timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg,tb-size=64 -cpu max -m 2048 -smp 1 \
		-display none -nodefaults -no-user-config -no-reboot -serial stdio -monitor none \
		-kernel "$vm/kernel/boot/vmlinuz-$version" -initrd "$vm/initrd.img" \
		-append "console=ttyS0 loglevel=5 panic=-1 mitigations=off random.trust_cpu=on getmnt.machine=$n" \
		-drive "file=$vm/root.img,if=virtio,format=raw,snapshot=on" \
		-drive "file=$vm/disk.img,if=virtio,format=raw,readonly=on" \
		-drive "file=$vm/empty.img,if=virtio,format=raw,snapshot=on" \
		-virtfs "local,path=$vm/share,mount_tag=share,security_model=none,readonly=on" \
		</dev/null >"$vm/$n.log" 2>&1 &
	pids[n]=$!
done

# What they print comes out machine by machine, line by line; their counts are
# summed.
passed=0 failed=0 skipped=0
(
	for n in "${!pids[@]}"; do
		tail -n +1 -s 0.2 --pid="${pids[n]}" -f "$vm/$n.log" |
			sed -u "s/\r\$//; /^[0-9]* passed, [0-9]* failed/d; s/^/$n: /" &
	done
	wait
) &
follower=$!
# Whoever says nothing for too long is killed.  The time is CPU time of the machine, so that other
# work on this host does not matter.
(
	ticks=$(getconf CLK_TCK)
	said=() since=()
	while sleep 5; do
		alive=0
		for n in "${!pids[@]}"; do
			kill -0 "${pids[n]}" 2>/dev/null || continue
			alive=1
			read -r -a stat < <(sed 's/.*) //' "/proc/$(pgrep -P "${pids[n]}" | head -n 1)/stat" 2>/dev/null)
			spent=$(((${stat[11]:-0} + ${stat[12]:-0}) / ticks)) size=$(stat -c %s "$vm/$n.log")
			[ "$size" = "${said[n]-}" ] || since[n]=$spent said[n]=$size
			[ $((spent - since[n])) -le "$silence" ] || kill "${pids[n]}"
		done
		[ $alive -eq 1 ] || break
	done
) &
for n in "${!pids[@]}"; do
	wait "${pids[n]}"
	status=$?
	if [ $status -ne 0 ] || ! grep -q '^init: end' "$vm/$n.log"; then
		failed=$((failed + 1))
		echo "FAIL machine $n: status $status, it did not come to its end"
	fi
	while read -r p _ f _ s _; do
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	done < <(tr -d '\r' <"$vm/$n.log" | grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
done
wait "$follower"
echo "both machines: $((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
