# Smith's Figure 5: pairs of device and mounted-on device.
status -F "$(table cli/host)" --identity=dev -l -n -o MAJ:MIN,MOUNTED-ON,NODE,TARGET
