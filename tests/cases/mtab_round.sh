# What is written as mtab is read back as the same.
getmnt --format=mtab -F "$(table cli/host)" >mtab
getmnt -m -F mtab --format=mtab >again
diff mtab again && echo same
