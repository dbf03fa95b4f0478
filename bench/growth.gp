# SPDX-License-Identifier: MIT
# gnuplot -c growth.gp DATA SVG TITLE UNIT WAYS: calls, time and memory over size, three
# panels, both axes logarithmic.  bench/plot.py calls it.
ways = int(ARG5)
set terminal svg size 1200,430 font "sans-serif,13" background "white"
set output ARG2
set datafile missing "?"
set multiplot layout 1,3 title ARG3 font ",16"
set logscale xy
set format x "10^{%T}"
unset mxtics
unset mytics
set grid xtics ytics linecolor "#d0d0d0"
set key left top samplen 2
set xlabel ARG4
set style line 1 linecolor "#0072b2" pointtype 7 pointsize 0.6 linewidth 1.5
set style line 2 linecolor "#d55e00" pointtype 4 pointsize 1.1 linewidth 1.5
set style line 3 linecolor "#000000" pointtype 12 pointsize 1.1 linewidth 1.5 dashtype 2
set style line 4 linecolor "#009e73" pointtype 9 pointsize 0.7 linewidth 1.5

set title "kernel calls"
set format y "10^{%T}"
set yrange [*<10:*]
plot for [i=1:ways] ARG1 index i-1 using 1:2 with linespoints linestyle i title columnheader(1)

set title "user and system time, ms"
set format y "%g"
set yrange [*<1:*]
plot for [i=1:ways] ARG1 index i-1 using 1:3 with linespoints linestyle i title columnheader(1)

set title "peak memory, MiB"
plot for [i=1:ways] ARG1 index i-1 using 1:($5/1024) with linespoints linestyle i title columnheader(1)
unset multiplot
