#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parquet.py: an index as Parquet, for the SQL engines of a fleet.

    getmnt index export --csv | parquet.py DIR

writes DIR/host=HOST/date=DATE/index.parquet, with one row group for each cluster, in the order of
the cluster.  Engines that read the minimum and maximum of a row group, and its Bloom filters of
names, pass over the same clusters as getmnt does.  fleet.sql has questions.

Needs pyarrow, from the Python package index.
"""
import argparse
import datetime
import os
import socket
import sys

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet as pq
except ImportError as missing:
    sys.exit(f"parquet.py: {missing}; install it by pip install pyarrow")

# The columns of the export that are read.
TEXT = ("path", "type")
NUMBERS = ("uid", "gid", "size", "blocks", "nlink")
TIMES = ("mtime", "ctime", "atime", "btime")
ROWS = 20000            # of a cluster, usually: for the size of Bloom filters
WORDS = ("dir", "type")  # with few different values in a row group
# Seconds that a timestamp in microseconds can have in every engine.
LEAST, MOST = -62135596800, 253402300799

SCHEMA = pa.schema(
    [("cluster", pa.int32()), ("dir", pa.string()), ("name", pa.string()), ("type", pa.string()), ("mode", pa.int16())]
    + [(name, pa.int64()) for name in NUMBERS + ("ino",)]
    + [(name, pa.timestamp("us", "UTC")) for name in TIMES])


def rows_of(batch):
    """A batch of the export with the columns of SCHEMA."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    parts = pc.split_pattern(columns["path"], "/", max_splits=1, reverse=True)
    columns["dir"], columns["name"] = pc.list_element(parts, 0), pc.list_element(parts, 1)
    # In octal: digit by digit.
    mode = columns["mode"]
    digit, octal = pa.scalar(10, pa.int16()), pa.scalar(0, pa.int16())
    for place in (1, 8, 64, 512):
        rest = pc.divide(mode, digit)
        value = pc.multiply(pc.subtract(mode, pc.multiply(rest, digit)), pa.scalar(place, pa.int16()))
        octal, mode = pc.add(octal, value), rest
    columns["mode"] = octal
    columns["ino"] = columns["ino"].view(pa.int64())
    for name in TIMES:
        time = columns[name]
        within = pc.and_(pc.greater_equal(time, pa.scalar(LEAST)), pc.less(time, pa.scalar(MOST)))
        time = pc.if_else(within, time, pa.scalar(None, time.type))
        # Nanoseconds are cut.
        time = pc.cast(time, pa.decimal128(18, 6), safe=False)
        time = pc.multiply(time, pa.scalar(1000000, pa.decimal128(7, 0)))
        columns[name] = pc.cast(pc.cast(time, pa.int64()), pa.timestamp("us", "UTC"))
    return pa.table({field.name: pc.cast(columns[field.name], field.type) for field in SCHEMA}, SCHEMA)


def batches(stream):
    """The batches of an export."""
    types = {"cluster": pa.int32(), "mode": pa.int16(), "ino": pa.uint64()}
    types.update((name, pa.string()) for name in TEXT)
    types.update((name, pa.int64()) for name in NUMBERS)
    types.update((name, pa.decimal128(29, 9)) for name in TIMES)
    options = pa.csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[""],
                                    strings_can_be_null=False)
    reader = pa.csv.open_csv(stream, pa.csv.ReadOptions(block_size=4 << 20), None, options)
    for batch in reader:
        yield rows_of(batch)


def clusters(tables):
    """A table for each cluster, from tables of any size."""
    waiting = []
    for table in tables:
        start = 0
        runs = pc.run_end_encode(table.column("cluster").combine_chunks())
        for end in runs.run_ends.to_pylist():
            part = table.slice(start, end - start)
            if waiting and waiting[0].column("cluster")[0] != part.column("cluster")[0]:
                yield pa.concat_tables(waiting)
                waiting = []
            waiting.append(part)
            start = end
    if waiting:
        yield pa.concat_tables(waiting)


def write(stream, path):
    """Write a file; it has its name when it is complete.  Returns the numbers of rows and row groups."""
    rows = groups = 0
    numbers = [name for name in SCHEMA.names if name not in WORDS + ("name",)]
    try:
        with pq.ParquetWriter(f"{path}.new", SCHEMA, compression="zstd", write_page_index=True,
                              use_dictionary=list(WORDS),
                              column_encoding={name: "DELTA_BINARY_PACKED" for name in numbers},
                              bloom_filter_options={"name": {"ndv": ROWS, "fpp": 0.01}}) as writer:
            for table in clusters(batches(stream)):
                writer.write_table(table, row_group_size=len(table))
                rows += len(table)
                groups += 1
        os.rename(f"{path}.new", path)
    except BaseException:
        if os.path.exists(f"{path}.new"):
            os.remove(f"{path}.new")
        raise
    return rows, groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], epilog=__doc__.split("\n\n")[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default=socket.gethostname(), help="the value of host= (default: this host)")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), type=datetime.date.fromisoformat,
                        help="the value of date= (default: today)")
    parser.add_argument("--name", default="index.parquet", help="the name of the file, if a host has several exports a day")
    parser.add_argument("dir", metavar="DIR", help="the directory of the fleet")
    parser.add_argument("export", metavar="EXPORT", nargs="?", help="the output of getmnt index export --csv (default: standard input)")
    args = parser.parse_args()
    if not args.host or "/" in args.host + args.name:
        parser.error("--host and --name are names, without a slash")
    to = os.path.join(args.dir, f"host={args.host}", f"date={args.date}")
    try:
        os.makedirs(to, exist_ok=True)
        with open(args.export, "rb") if args.export else os.fdopen(os.dup(0), "rb") as stream:
            rows, groups = write(stream, os.path.join(to, args.name))
    except OSError as error:
        sys.exit(f"parquet.py: {error}")
    except pa.ArrowException as error:
        sys.exit(f"parquet.py: {args.export or 'standard input'}: {error}")
    print(f"{to}/{args.name}: {rows} rows in {groups} row groups")


if __name__ == "__main__":
    main()
