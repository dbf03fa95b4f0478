# SPDX-License-Identifier: MIT
# Healthy fstabs of many distributions and manual pages: --static reports nothing above informational.
umask 022
awk '/^== / { name = $2; next } name && NF { print > name ".fstab" }' "$TOP/tests/fixtures/fstab/healthy"
for file in *.fstab; do
	getmnt audit --static --fstab="$file" || echo "$file: status $?"
done | sed 's/ (.*informational.*)//' | sed -n '/: 0 critical, 0 warnings$/!p'
cat -- *.fstab | grep -c .
