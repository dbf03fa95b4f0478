# SPDX-License-Identifier: MIT
"""Idle autofs triggers, direct and indirect: told as untested, and left idle."""
import gm

gm.need_fs("autofs")
root = gm.Root()
direct = gm.Autofs(root / "auto/direct", "direct")
indirect = gm.Autofs(root / "auto/indirect", "indirect")
offset = gm.Autofs(root / "auto/offset", "offset")
gm.tmpfs(root / "ok/one/two")
gm.tmpfs(root / "auto/beside")
untouched = ["/auto/direct", "/auto/indirect", "/auto/offset"]
root.enter()
gm.check("autofs", untouched=untouched)
for args in (("--boundaries", "--names=walk"), ("--output-all", "-l"), ("-D",), ("-M", "/auto/direct"),
             ("-T", "/auto/direct"), ("/auto/indirect",), ("-T", "/auto/indirect/missing"),
             ("-T", "/auto/direct/missing"), ("--root", "/auto")):
    result = gm.getmnt(*args, seconds=20)
    gm.expect(result.status in (0, 1, 32), f"{args}: status {result.status}")
for name, trigger in (("direct", direct), ("indirect", indirect), ("offset", offset)):
    asked = trigger.requests()
    gm.expect(not asked, f"{name}: the trigger was pulled: {asked[:40]!r}")
gm.done()
