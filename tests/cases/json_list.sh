status -J -l -F "$(table cli/stacked)" -o +ID,PARENT,COVERED-BY | grep -vE '"(host|boot_id|mntns|version)"'
