"""docs/hip_api.md against the simulator: argv[1] is the page, argv[2] HIP's header. Every function that the page calls
done or refused is exported, a refused one refuses, one called not exported is not, and the page names every function
that the header declares and the library exports."""

import ctypes
import re
import sys

hip = ctypes.CDLL("libamdhip64.so")
hip.mlaforge_simulator_last_report.restype = ctypes.c_char_p
page = open(sys.argv[1]).read()
chapters = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.S | re.M))
names = {title: set(re.findall(r"`(_*hip\w+)`", text)) for title, text in chapters.items()}
done, refused, missing = (names[title] for title in ("Done", "Exported, and refused", "Not exported"))
refused -= {"hipErrorNotSupported"}
missing -= {"hiprtc"}
assert len(done) > 250 and len(refused) > 150 and not (done & refused)

wrong = [f"{name} is not exported" for name in sorted(done | refused) if not hasattr(hip, name)]
wrong += [f"{name} is exported" for name in sorted(missing) if hasattr(hip, name)]
for name in sorted(refused):
    if not hasattr(hip, name):
        continue
    code = getattr(hip, name)(*[0] * 8)
    report = hip.mlaforge_simulator_last_report().decode()
    if code != 801 or not report.startswith(name + " (hipErrorNotSupported)"):
        wrong.append(f"{name} answers {code}: {report}")
declared = set(re.findall(r"^\s*(?:hipError_t|int|const char\s*\*)\s+(hip\w+)\s*\(", open(sys.argv[2]).read(), re.M))
assert len(declared) > 300
unnamed = [name for name in sorted(declared - done - refused) if hasattr(hip, name)]
wrong += [f"{name} is exported, and the page does not name it" for name in unnamed]
sys.exit("\n".join(wrong) or 0)
