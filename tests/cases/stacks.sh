# A stack is one node of the tree, or nested as findmnt does it.
status -F "$(table cli/stacked)" -o TARGET,SOURCE,STATE
status -F "$(table cli/stacked)" -o TARGET,SOURCE,STATE --stacks=nest
status -F "$(table cli/stacked)" -l -o TARGET,SOURCE,STATE,COVERED-BY,NAMED
