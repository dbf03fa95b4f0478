# Missing parents, cycles and duplicate IDs are reported, not followed.
cp "$(table cli/odd)" odd
status -F odd -l -o TARGET,SOURCE,ID,PARENT,STATE
status -F "$(table cli/chroot)" -o TARGET,ID,PARENT
