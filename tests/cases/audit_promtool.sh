# The metrics of getmnt audit, as promtool sees them.
command -v promtool >/dev/null || skip "there is no promtool (of prometheus): audit_forms reads the metrics by tests/lib/forms.py alone"
echo '20 1 8:1 / / rw - ext4 /dev/mapper/root rw' >table
printf '21 20 8:2 / /a\\134\\012"\xff{} ro - ext4 /dev/mapper/a ro\n22 21 8:2 / /a\\134\\012"\xff{} ro - ext4 /dev/mapper/a ro\n' >>table
for i in $(seq 600); do echo "/dev/mapper/m$i /m$i ext4 defaults 0 2"; done >many
: >empty
for fstab in many empty none; do
	getmnt audit -F table --fstab=$fstab --prometheus >out 2>/dev/null
	echo "status $?, $(grep '^getmnt_audit_success' out)"
	promtool check metrics <out
	echo "promtool: status $?"
done
