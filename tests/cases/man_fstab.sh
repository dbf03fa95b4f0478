# -s and -m, their files and their environment; what an fstab cannot tell is empty.
printf '%s\n' 'UUID=1234 /a\040b ext4 noauto 0 2' '# words' '/dev/x /c xfs defaults' >tab
LIBMOUNT_FSTAB=$PWD/tab status -s
status -s -F tab
LIBMOUNT_MTAB=$PWD/tab status -m
status -m -F tab -n -o TARGET
status -s -F tab -P -o TARGET,STATE,NAMED,NODE,ID,FREQ,PASSNO,UUID
status -s -F tab -J -M /c -o +FREQ | grep -v '"version"'
status -s -F tab -o TARGET -S UUID=1234
status -s -F tab --names=walk
status -s -F tab --unmounted
