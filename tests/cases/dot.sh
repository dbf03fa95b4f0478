status --format=dot -F "$(table cli/stacked)"
# Graphviz decodes the entities of HTML: of one the & is escaped.
printf '1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:2 / /a&#8238;b&#1;&amp;c&d;e rw - tmpfs R&D&lt; rw\n' >table
getmnt --format=dot -F table | grep -F 'm1 [label'
