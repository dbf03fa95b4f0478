status -F "$(table cli/host)" -l -n -o TARGET,NAMED,STATE
status -F "$(table cli/host)" --format=list -n -o TARGET | head -n 3
