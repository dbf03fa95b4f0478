# SPDX-License-Identifier: MIT
"""docs/FLEET.md on twelve hosts, of which three are broken and one has a file system that never
answers: the commands of ClusterShell, Ansible, Prometheus, NRPE and node-problem-detector print what
the page shows."""
import http.client          # with all it needs, before the old root is gone
import json
import os
import re
import subprocess
import time
import urllib.parse

import gm

import fleet
import page

BROKEN = {3: "missing", 6: "readonly", 9: "options", 11: "hung"}
FIRING = {("GetmntWarning", "node03", "DRIFT-NOT-MOUNTED"), ("GetmntCritical", "node06", "DRIFT-READONLY"),
          ("GetmntWarning", "node09", "DRIFT-OPTIONS"), ("GetmntCritical", "node11", "MNT-TIMEOUT")}
SECONDS = 30 * gm.SLOW          # that a question to all hosts may take

fleet.enclose()
known = gm.getmnt("audit", "--help", program=os.environ["GETMNT"]).out.decode()
document = page.Page("FLEET.md", "admin# ")
hosts = fleet.Fleet(12, BROKEN)
fleet.enter_admin(hosts)

# The server, as contrib/ has it, in a hurry.
with open("contrib/prometheus/prometheus.yml", encoding="ascii") as f:
    config = re.sub(r"_interval: 1m", "_interval: 1s", f.read())
gm.touch("contrib/prometheus/hurry.yml", config)
with open("/run/prometheus.log", "wb") as log:
    server = subprocess.Popen(["/usr/bin/prometheus", "--config.file=contrib/prometheus/hurry.yml", "--web.listen-address=127.0.0.1:9090",
                               "--storage.tsdb.path=/var/lib/prometheus/data"], stdin=gm.null, stdout=log, stderr=log)


def ask(path, **query):
    """What the server says."""
    connection = http.client.HTTPConnection("127.0.0.1", 9090, timeout=20)
    connection.request("GET", "/api/v1/" + path + ("?" + urllib.parse.urlencode(query) if query else ""))
    answer = json.load(connection.getresponse())
    connection.close()
    return answer


def alerts(state=None):
    """The alerts in a state, or in any: name, host, code."""
    return {(alert["labels"]["alertname"], alert["labels"].get("instance", "").removesuffix(":9100"), alert["labels"].get("code", ""))
            for alert in ask("alerts")["data"]["alerts"] if state in (None, alert["state"])}


def wait(what, condition, seconds=60 * gm.SLOW):
    """Until it is so; False if it is not in time."""
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return True
        except (OSError, ValueError, http.client.HTTPException):     # it is not there yet
            pass
        if time.monotonic() > end:
            return gm.expect(False, f"{what}: not in {seconds} s")
        time.sleep(0.3)


def before(command):
    if command.startswith("promtool query"):
        wait("the alerts", lambda: alerts("firing") == FIRING)
        # What fires for others would come with the next scrapes.
        time.sleep(3)


def plain(command, text):
    """Output without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.split("\n"))


for words in ("check", "test"):
    name = "getmnt.rules.yml" if words == "check" else "getmnt.test.yml"
    gm.run("promtool", words, "rules", f"contrib/prometheus/{name}")
wait("the server", lambda: ask("status/buildinfo")["status"] == "success")
document.run(known, plain, before=before)
for command, seconds in document.seconds.items():
    if re.match("clush|pdsh|ansible", command):
        print(f"  {seconds:5.1f} s  {command[:90]}")
        gm.expect(seconds < SECONDS, f"{command}: {seconds:.1f} s")
gm.expect(document.count >= 10, f"only {document.count} commands on the page")

# Eight hosts print the same, whatever the page shows.
for words in ("clush -a -u 60 'getmnt audit --probe=all --fail-on=never; echo' | clubak -b",
              "pdsh -R ssh -w node[01-12] 'getmnt audit --probe=all --fail-on=never; echo' | dshbak -c"):
    out = subprocess.run(["bash", "-c", words], stdin=gm.null, stdout=subprocess.PIPE, timeout=120, check=False).stdout.decode()
    blocks = re.findall(r"^-+\n(\S+)(?: \(\d+\))?\n-+\n", out, re.M)
    gm.expect(blocks == ["node[01-02,04-05,07-08,10,12]", "node03", "node06", "node09", "node11"], f"{words}: {out}")

# Of all the probes of what never answers one is left, which waits.
probes = 0
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/comm", encoding="latin-1") as f:
            probes += f.read() == "getmnt-probe\n"
    except OSError:
        pass
gm.expect(probes == 1, f"{probes} probes are left")

# The server: it has all hosts, its rules work, and nothing else is even pending.
targets = {target["labels"]["instance"]: target["health"] for target in ask("targets")["data"]["activeTargets"]}
gm.expect(targets == {f"{name}:9100": "up" for name in hosts.names.values()}, f"targets: {targets}")
gm.expect(alerts() == FIRING, f"alerts: {alerts()}")
rules = [rule for group in ask("rules")["data"]["groups"] for rule in group["rules"]]
gm.expect(len(rules) >= 9 and all(rule["health"] == "ok" for rule in rules), f"rules: {rules}")
with open("contrib/grafana/getmnt-audit.json", encoding="utf-8") as f:
    dashboard = json.load(f)
queries = [target["expr"].replace("$job", ".*") for panel in dashboard["panels"] for target in panel["targets"]]
for query in queries:
    answer = ask("query", query=query)
    none = re.search("_success.* == 0|> 3 \\*|unless", query)
    gm.expect(answer["status"] == "success" and bool(answer["data"]["result"]) != bool(none), f"{query}: {answer}")
gm.expect(len(queries) >= 11, "queries of the dashboard")


def on(name, command):
    return gm.run("ssh", name, command)


# A detector in a pod, which is a mount namespace, and as it enters the node's.
plugin = "/etc/node-problem-detector/getmnt-audit.sh"
out = on("node01", f"unshare -m sh -c 'umount /tmp; {plugin}; export GETMNT_ENTER=\"nsenter -t 1 -m\"; {plugin}'").split("\n")
gm.expect(out == ["GETMNT WARNING - 0 critical, 1 warning: DRIFT-NOT-MOUNTED /tmp", "GETMNT OK - 0 critical, 0 warnings, 11 mounts", ""],
          f"in a pod: {out}")
for name, options, status, line in (("node06", "", 1, "GETMNT CRITICAL - 1 critical, 0 warnings: DRIFT-READONLY /srv/data"),
                                    ("node11", "--probe=all", 1, "GETMNT CRITICAL - 1 critical, 0 warnings: MNT-TIMEOUT /srv/net"),
                                    ("node01", "--no-such-option", 2, 'GETMNT UNKNOWN - unknown option "--no-such-option"')):
    out = on(name, f"{plugin} {options}; echo $?").split("\n")
    gm.expect(out[:2] == [line, str(status)], f"the detector's plugin on {name}: {out}")
with open("contrib/node-problem-detector/getmnt-audit.json", encoding="ascii") as f:
    monitor = json.load(f)
gm.expect({rule["path"] for rule in monitor["rules"]} == {plugin} and {rule["condition"] for rule in monitor["rules"]}
          <= {condition["type"] for condition in monitor["conditions"]}, f"the monitor: {monitor}")

# A host without a file, one whose file is old, one whose audit fails.
textfile = fleet.TEXTFILES + "/getmnt.prom"
on("node05", f"rm {textfile}")
on("node07", f"sed -i 's/^getmnt_audit_last_completion_timestamp_seconds .*/getmnt_audit_last_completion_timestamp_seconds 1000/' {textfile}")
on("node08", f"echo nonsense >/etc/getmnt/audit.conf; getmnt audit --prometheus --output={textfile}; test $? -eq 2")
LATER = {("GetmntAuditMissing", "node05", ""), ("GetmntAuditOld", "node07", ""), ("GetmntAuditFailed", "node08", "")}
wait("the alerts on audits", lambda: alerts() == FIRING | LATER)
gm.expect(alerts() == FIRING | LATER, f"alerts: {alerts()}")
# And all is well again.
for name in ("node05", "node07", "node08"):
    on(name, f"rm -f /etc/getmnt/audit.conf; getmnt audit --prometheus --output={textfile}")
wait("the end of these alerts", lambda: alerts() == FIRING)
if gm.failures:
    with open("/run/prometheus.log", encoding="utf-8") as f:
        print("  " + "\n  ".join(f.read().split("\n")[-10:]))
gm.done()
