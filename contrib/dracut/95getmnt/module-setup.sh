#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A module of dracut: getmnt and its libraries, for the rescue shell.
#
# It is left out unless it is asked for, since it makes every initramfs larger:
#
#     echo 'add_dracutmodules+=" getmnt "' >/etc/dracut.conf.d/getmnt.conf && dracut -f

# dracut leaves /usr/local out of PATH.
where()
{
	find_binary getmnt || find_binary /usr/local/bin/getmnt
}

# called by dracut
check()
{
	where >/dev/null || return 1
	return 255
}

# called by dracut
depends()
{
	return 0
}

# called by dracut
install()
{
	inst "$(where)" /usr/bin/getmnt
}
