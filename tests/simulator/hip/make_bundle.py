"""Writes an offload bundle: make_bundle.py OUTPUT TARGET=FILE..., e.g. gfx950=k.co. clang-offload-bundler's own layout."""

import struct
import sys

ALIGNMENT = 4096

output, entries = sys.argv[1], [("host-x86_64-unknown-linux-gnu-", b"")]
for argument in sys.argv[2:]:
    target, path = argument.split("=", 1)
    with open(path, "rb") as file:
        entries.append(("hipv4-amdgcn-amd-amdhsa--" + target, file.read()))

header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
body = b""
for name, data in entries:
    header += struct.pack("<QQQ", ALIGNMENT + len(body), len(data), len(name)) + name.encode()
    body += data.ljust(-(-len(data) // ALIGNMENT) * ALIGNMENT, b"\0")
with open(output, "wb") as file:
    file.write(header.ljust(ALIGNMENT, b"\0") + body)
