# Columns stand below each other whatever the characters: ASCII is converted by
# the program itself, which libsmartcols must find before the C library.
{
	echo '1 1 0:1 / / rw - tmpfs ascii rw'
	echo '2 1 0:2 / /~plain rw - tmpfs tilde rw'
	echo '3 1 0:3 / /日本語 rw - tmpfs wide rw'
	printf '4 1 0:4 / /e\xcc\x81 rw - tmpfs combining rw\n'
	printf '5 1 0:5 / /inv\xff\xc3alid rw - tmpfs invalid rw\n'
	printf '6 1 0:6 / /del\x7f\x1besc rw - tmpfs control rw\n'
	printf '7 1 0:7 / /back\\134x41 rw - tmpfs backslash rw\n'
	printf '8 1 0:8 / /ä€😀 rw - tmpfs lengths rw\n'
} >table
getmnt -F table -l
getmnt -F table
LC_ALL=C getmnt -F table -l
LD_DEBUG=bindings getmnt -F table 2>&1 | grep -c 'libsmartcols.* to .*getmnt.*mbrtowc'
