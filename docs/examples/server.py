"""MLA decode attention from Python, by ctypes over mlaforge's C ABI alone, on numpy arrays.

usage: server.py libmlaforge_runtime.so KERNELS.so    (KERNELS: mlaforge_add_kernels(... NAME example SHARED))
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_uint32, c_uint64, c_void_p

import numpy as np

HEADS, KEY_DIM, LATENT_DIM, SLOTS = 12, 576, 512, 4096
SOFTMAX_SCALE = 192**-0.5
BF16, FP8_E4M3 = 0, 2


class Versioned(ctypes.Structure):
    """A struct of mlaforge.h: its first field, the size, says how many of the header's fields it has."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class OpenOptions(Versioned):
    _fields_ = [("struct_size", c_uint64), ("backend", c_int32), ("device", c_int32),
                ("kernel_sets", POINTER(c_void_p)), ("kernel_set_count", c_uint64)]


class DeviceInfo(Versioned):
    _fields_ = [("struct_size", c_uint64), ("name", c_char_p), ("target", c_char_p), ("hip_library", c_char_p),
                ("compute_units", c_int32), ("is_simulator", c_int32)]


class Problem(Versioned):
    _fields_ = [("struct_size", c_uint64)] + [
        (name, c_int32) for name in ("heads", "qlen", "latent_dim", "rope_dim", "page_size", "q_dtype", "kv_dtype",
                                     "context_parallel", "splits", "batch_capacity")
    ] + [("longest_context", c_int64), ("pool_bytes", c_uint64)]


class Choice(Versioned):
    _fields_ = [("struct_size", c_uint64), ("row", c_void_p), ("row_index", c_uint32), ("batch_capacity", c_int32),
                ("longest_context", c_int64), ("pool_bytes", c_uint64)]


class Tensors(Versioned):
    _fields_ = [("struct_size", c_uint64)] + [
        (name, c_void_p) for name in ("q", "kv", "page_table", "page_indptr", "seq_len", "q_scale", "k_scale",
                                      "v_scale", "o", "lse")
    ] + [
        (name, c_int64) for name in ("q_token_stride", "q_head_stride", "kv_row_stride", "page_table_stride",
                                     "o_token_stride", "o_head_stride", "lse_token_stride", "lse_head_stride")
    ] + [("requests", c_int32), ("softmax_scale", c_float), ("context_parallel_rank", c_int32), ("reserved", c_int32)]


class Runtime:
    """libmlaforge_runtime.so; a failed call raises its message."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.mlaforge_last_error.restype = c_char_p

    def __getattr__(self, name):
        def call(*arguments):
            if getattr(self.library, "mlaforge_" + name)(*arguments) != 0:
                raise RuntimeError(self.library.mlaforge_last_error().decode())

        return call


class Hip:
    """The HIP library that the runtime opened: memory for numpy arrays."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def upload(self, array):
        pointer = c_void_p()
        assert self.library.hipMalloc(byref(pointer), ctypes.c_size_t(max(array.nbytes, 1))) == 0
        assert self.library.hipMemcpy(pointer, c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), 1) == 0
        return pointer

    def download(self, pointer, array):
        assert self.library.hipMemcpy(c_void_p(array.ctypes.data), pointer, ctypes.c_size_t(array.nbytes), 2) == 0
        return array


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def e4m3_values(codes):
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7).astype(float)
    magnitude = np.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0**(exponent - 10))
    return np.where(codes & 0x80, -magnitude, magnitude)


def attend(q, kv, pages):
    """The right output [heads, 512] of one request, in float64."""
    keys = e4m3_values(kv[pages])
    logits = bf16_values(q) @ keys.T * SOFTMAX_SCALE
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ keys[:, :LATENT_DIM]


def main(runtime_path, kernels_path):
    runtime = Runtime(runtime_path)
    kernels = ctypes.CDLL(kernels_path)
    kernels.mlaforge_kernels_example.restype = c_void_p
    sets = (c_void_p * 1)(kernels.mlaforge_kernels_example())
    library = c_void_p()
    runtime.open(byref(OpenOptions(kernel_sets=sets, kernel_set_count=1)), byref(library))
    device = DeviceInfo()
    runtime.device(library, byref(device))
    hip = Hip(device.hip_library.decode())
    print(f"{device.name.decode()}, {device.compute_units} CUs")

    random = np.random.default_rng(1)
    lengths = np.array([600, 1, 257], np.int32)
    requests, longest = len(lengths), int(lengths.max())
    pages = random.permutation(SLOTS)[:requests * longest].reshape(requests, longest).astype(np.int32)
    q = (random.standard_normal((requests, HEADS, KEY_DIM), np.float32).view(np.uint32) >> 16).astype(np.uint16)
    kv = (random.integers(0, 0x38, (SLOTS, KEY_DIM)) | random.integers(0, 2, (SLOTS, KEY_DIM)) << 7).astype(np.uint8)
    o = np.zeros((requests, HEADS, LATENT_DIM), np.uint16)

    choice = Choice()
    runtime.select(library, byref(Problem(heads=HEADS, qlen=1, latent_dim=LATENT_DIM, rope_dim=KEY_DIM - LATENT_DIM,
                                          page_size=1, q_dtype=BF16, kv_dtype=FP8_E4M3, context_parallel=1,
                                          batch_capacity=requests, longest_context=longest, pool_bytes=kv.nbytes)),
                   byref(choice))
    workspace_bytes = c_uint64()
    runtime.workspace_size(library, byref(choice), byref(workspace_bytes))
    workspace = hip.upload(np.zeros(workspace_bytes.value, np.uint8))
    tensors = Tensors(q=hip.upload(q), kv=hip.upload(kv), page_table=hip.upload(pages), seq_len=hip.upload(lengths),
                      o=hip.upload(o), q_token_stride=HEADS * KEY_DIM, q_head_stride=KEY_DIM, kv_row_stride=KEY_DIM,
                      page_table_stride=longest, o_token_stride=HEADS * LATENT_DIM, o_head_stride=LATENT_DIM,
                      requests=requests, softmax_scale=SOFTMAX_SCALE)
    runtime.launch(library, byref(choice), byref(tensors), workspace, workspace_bytes, None)

    got = bf16_values(hip.download(c_void_p(tensors.o), o))
    worst = 0.0
    for r in range(requests):
        right = attend(q[r], kv, pages[r, :lengths[r]])
        worst = max(worst, (np.abs(got[r] - right) / np.abs(right).max(axis=1, keepdims=True)).max())
    print(f"{requests} requests, up to {longest} tokens, workspace {workspace_bytes.value} bytes, error {worst:.4f}: "
          f"{'right' if worst < 1 / 128 else 'WRONG'}")
    runtime.library.mlaforge_close(library)
    return 0 if worst < 1 / 128 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
