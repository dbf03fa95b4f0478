-- SPDX-License-Identifier: MIT
--
-- Queries about the files of many hosts, for DuckDB.  They read the directory fleet/ below the current
-- directory, which parquet.py writes:
--
--     getmnt index export --csv | parquet.py fleet          (on each host, or from its export)
--     duckdb -f fleet.sql
--
-- Names are escaped as described in docs/INDEX.md.  A file with N hard links has N rows; sums of space
-- count 1/N of the file for each row.

-- The day of the exports, and the values of the first three queries: change them here.
SET VARIABLE day = today();
SET VARIABLE name = 'authorized_keys';
SET VARIABLE owner = 0;
SET VARIABLE below = '/home';
SET VARIABLE near = now();
SET VARIABLE least = 100000000;

-- Without objects whose attributes could not be read.
CREATE VIEW file AS
SELECT * FROM read_parquet('fleet/**/*.parquet', hive_partitioning = true)
WHERE date = getvariable('day') AND uid IS NOT NULL;

-- By name and owner.
SELECT host, dir, name, size, mtime FROM file
WHERE name = getvariable('name') AND uid = getvariable('owner')
ORDER BY host, dir;

-- The same below a directory.
SELECT host, dir, name, size, mtime FROM file
WHERE name = getvariable('name') AND uid = getvariable('owner')
  AND (dir = getvariable('below') OR starts_with(dir, getvariable('below') || '/'))
ORDER BY host, dir;

-- By owner, changed within a day of a time, and of a size or larger.
SELECT host, dir, name, size, mtime FROM file
WHERE uid = getvariable('owner') AND size >= getvariable('least')
  AND mtime BETWEEN getvariable('near') - INTERVAL 1 DAY AND getvariable('near') + INTERVAL 1 DAY
ORDER BY host, dir, name;

-- The largest directories of the first three levels, with what is below them.
WITH own AS (
    SELECT host, CASE WHEN type = 'd' THEN dir || '/' || name ELSE dir END AS path,
           sum(CASE WHEN type = 'd' THEN blocks ELSE blocks / nlink END) * 512 AS bytes
    FROM file GROUP BY ALL),
space AS (
    SELECT host, string_split(path, '/')[:4] AS parts, sum(bytes) AS bytes FROM own GROUP BY ALL)
SELECT host, array_to_string(parts[:level], '/') AS top, round(sum(bytes))::BIGINT AS bytes
FROM space, range(2, 5) AS levels(level)
WHERE len(parts) >= level AND parts[level] <> ''
GROUP BY ALL
ORDER BY bytes DESC, host, top
LIMIT 20;

-- Space by owner.
SELECT uid, count(DISTINCT host) AS hosts, count(*) AS objects,
       round(sum(CASE WHEN type = 'd' THEN blocks ELSE blocks / nlink END) * 512)::BIGINT AS bytes
FROM file
GROUP BY uid
ORDER BY bytes DESC, uid
LIMIT 20;

-- Large files with the same name and size: probably copies.
SELECT name, size, count(*) AS files, count(DISTINCT host) AS hosts, (count(*) - 1)::HUGEINT * size AS more
FROM file
WHERE type = 'f' AND nlink = 1 AND size >= 1000000
GROUP BY name, size
HAVING count(*) > 1
ORDER BY more DESC, name
LIMIT 20;

-- Space by years from the last change to that day.
SELECT greatest(floor((epoch(getvariable('day')) - epoch(mtime)) / (365 * 86400)), 0)::INTEGER AS years, count(*) AS files,
       round(sum(blocks / nlink) * 512)::BIGINT AS bytes
FROM file
WHERE type = 'f' AND mtime IS NOT NULL
GROUP BY years
ORDER BY years;
