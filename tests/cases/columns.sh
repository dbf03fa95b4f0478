# Columns: chosen, added, all of them; the list that -H gives.
status -F "$(table cli/host)" -l -n -o target,Maj:Min,FSROOT,PROPAGATION,OPT-FIELDS -t btrfs
status -F "$(table cli/host)" -l -o +ID,PARENT,NODE,KIND,DEPTH -t ext4
getmnt -F "$(table cli/host)" -P --output-all -M /srv/data
getmnt -H | awk 'NF { print $1 }'
