# JSON: a nested document of findmnt's shape; host, boot and namespace are
# this machine's and left out.
status -J -F "$(table cli/stacked)" | grep -vE '"(host|boot_id|mntns|version)"'
