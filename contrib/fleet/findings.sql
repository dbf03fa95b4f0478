-- SPDX-License-Identifier: MIT
--
-- Questions about the audits of many hosts, for DuckDB.  Reads two files of this directory:
--
--     fleet.jsonl   a line of getmnt audit --jsonl from each host that answered
--     hosts.txt     the name of each host that should have answered, one a line
--
--     clush -a -N getmnt audit --jsonl --fail-on=never >fleet.jsonl
--     nodeset -e @all | tr ' ' '\n' >hosts.txt
--     duckdb -f findings.sql
--
-- docs/audit.schema.json describes the lines.

CREATE VIEW report AS
SELECT * FROM read_json('fleet.jsonl', format = 'newline_delimited', columns = {
    host: 'VARCHAR', time: 'BIGINT', failed: 'VARCHAR', complete: 'BOOLEAN',
    findings: 'STRUCT(code VARCHAR, severity VARCHAR, target VARCHAR, owner VARCHAR, message VARCHAR,
                      expected VARCHAR, actual VARCHAR, hint VARCHAR, source VARCHAR)[]'
});

CREATE VIEW finding AS
SELECT host, f.* FROM (SELECT host, unnest(findings) AS f FROM report);

-- Findings by severity and code: how many, and on how many hosts.
SELECT severity, code, count(*) AS findings, count(DISTINCT host) AS hosts
FROM finding
GROUP BY severity, code
ORDER BY CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, hosts DESC, code;

-- Hosts with a critical finding.
SELECT host, code, target, message
FROM finding
WHERE severity = 'critical'
ORDER BY host, code, target;

-- Findings that exactly one host has, by code and mount point.
SELECT min(host) AS host, code, target
FROM finding
WHERE severity <> 'info'
GROUP BY code, target
HAVING count(DISTINCT host) = 1
ORDER BY host, code, target;

-- Hosts that did not report, or whose audit failed.
SELECT expected.host, coalesce(report.failed, 'no report') AS why
FROM read_csv('hosts.txt', header = false, columns = {host: 'VARCHAR'}) AS expected
LEFT JOIN report USING (host)
WHERE report.host IS NULL OR report.failed IS NOT NULL
ORDER BY expected.host;
