# SPDX-License-Identifier: MIT
# No form of an audit shows a secret, however the line has it: in a wrong field, by a
# misspelled name, after a user name, in a command.
umask 022
cat >mi <<'TABLE'
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 20 0:90 / /type rw,relatime - cifs //bob:HUNT1@srv/share rw,password=HUNT2
41 20 0:91 / /source rw,relatime - cifs //srv/y rw
42 20 0:92 / /names rw,relatime - cifs //srv/z rw,pasword=HUNT3,user=u:HUNT4
43 20 0:93 / /ftp rw,relatime - fuse.curlftpfs curlftpfs#ftp://h/ rw,user_id=0,group_id=0
44 20 0:94 / /file rw,relatime - cifs //srv/1 rw
45 20 0:95 / /open rw,relatime - cifs //srv/2 rw
46 20 0:96 / /comma rw,relatime - cifs //srv/3 rw
47 20 0:97 / /both rw,relatime - cifs //srv/4 rw
TABLE
cat >fstab <<'FSTAB'
/dev/mapper/root / ext4 defaults,x-systemd.automount 0 1
//srv/share /type cifs,user=bob,password=HUNT5 0 0
//s/y,password=HUNT6 /source cifs ro 0 0
//srv/z /names cifs ro,pasword=HUNT7,user=u:HUNT8,passsword=HUNT9 0 0
curlftpfs#ftp://h/ /ftp fuse ro,user=u:HUNT10,extpass=echo\040HUNT11,ssh_command=sshpass\040-pHUNT12 0 0
x /none tmpfs noauto,nofial,tokne=HUNT13 0 0
//srv/a /ask cifs noauto,extpass=/usr/bin/askpass,credentails=/etc/c 0 0
//srv/1 /file cifs nosuid,credentials=/root/c 0 0
//srv/2 /open cifs nosuid,credentials="/root/c,password=HUNT16 0 0
//srv/3 /comma cifs nosuid,credentials=/root/c\134,password=HUNT17 0 0
//srv/4 /both cifs nosuid,credentials=/root/c,password=HUNT18 0 0
//srv/5 /notype user=bob,password=HUNT19 0 0
mon:/ /ceph ceph noauto,name=a,secret=HUNT19 0 0
mon:/ /ceph2 ceph noauto,name=a,secretfile=/root/c 0 0
//srv/6 /continued cifs noauto, \
user=bob, password=HUNT20 0 0
//srv/7 user=bob,password=HUNT21 /order cifs 0 0
FSTAB
echo 'require /names password=HUNT14,nodev,secert=HUNT15' >conf
printf "Filename\tType\tSize\tUsed\tPriority\n" >sw
audit()
{
	getmnt audit -F mi --fstab=fstab --swaps=sw --config=conf "$@"
}
audit -v
for form in --json --prometheus --save=saved; do
	audit $form >out 2>&1
	echo "$form $? $(cat out saved 2>/dev/null | grep -c HUNT)"
done

echo "--- lines of the configuration that are wrong"
printf '%s\n' 'require /x password=HUNT,password=HUNT' 'require /x pasword=HUNT,,rw' 'password=HUNT' 'ignore password=HUNT' \
	'severity all user=a%HUNT' 'ignore * target=user=a:HUNT' 'ignore * password=HUNT x' 'require /x rw password=HUNT' \
	'require //u:HUNT@s/a b c' 'require /x password= HUNT' 'require / token=HUNT x' 'require /x password = HUNT' >conf
audit --prometheus --output=prom.prom
echo "status $? $(grep -c HUNT prom.prom)"
grep reason prom.prom
