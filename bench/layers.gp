# SPDX-License-Identifier: MIT
# gnuplot -c layers.gp MATRIX SVG COLUMNS: where time goes, a bar for each run, the layers
# one on the other.  bench/layers.py calls it.
columns = int(ARG3)
set terminal svg size 1000,580 font "sans-serif,13" background "white"
set output ARG2
set datafile separator "\t"
set title "Where the time of a run goes" font ",16"
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 border rgb "white"
set boxwidth 0.7
set bmargin 4
set ylabel "share of the time that it had a processor, or slept, %"
set yrange [0:100]
set ytics 10
set grid ytics linecolor "#d0d0d0"
set xtics nomirror scale 0
set key outside right center reverse Left invert samplen 1.5 spacing 1.3
set linetype 1 linecolor "#0072b2"
set linetype 2 linecolor "#56b4e9"
set linetype 3 linecolor "#9ad0f0"
set linetype 4 linecolor "#cc79a7"
set linetype 5 linecolor "#d55e00"
set linetype 6 linecolor "#e69f00"
set linetype 7 linecolor "#f0e442"
set linetype 8 linecolor "#009e73"
set linetype 9 linecolor "#66c2a5"
set linetype 10 linecolor "#a6d854"
set linetype 11 linecolor "#8c6d31"
set linetype 12 linecolor "#606060"
set linetype 13 linecolor "#b0b0b0"
set linetype 14 linecolor "#d8d8d8"
set linetype 15 linecolor "#000000"
plot for [i=2:columns+1] ARG1 using i:xtic(1) title columnheader(i) linetype i-1
