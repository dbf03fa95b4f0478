# Names that need escapes: what is printed is read again as the same.
{
	echo '1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw'
	i=10
	for name in 'my\040dir' 'back\134slash' 'ab\134040' 'end\040' 'tab\011' 'new\012line' '#x' 'caf\303\251' 'a,b' 'x\033[31m'; do
		echo "$i 1 0:$i / /$(printf '%s' "$name" | sed 's/\\303\\251/é/; s/\\033/\x1b/') rw,relatime - tmpfs $(printf '%s' "$name" |
			sed 's/#/\\043/g; s/\\303\\251/é/; s/\\033/\x1b/') rw,size=4k"
		i=$((i + 1))
	done
} >table
getmnt fstab -F table --id=path >made
echo "status $?"
cat -v made
getmnt -s -F made -rno TARGET,SOURCE | sort >one
getmnt -F table -rno TARGET,SOURCE | sort >two
cmp one two && echo same
