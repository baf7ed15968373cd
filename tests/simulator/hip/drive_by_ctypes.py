"""A Python program that drives the device by ctypes: argv[1] is a code object of kernels.hip."""

import ctypes
import sys

hip = ctypes.CDLL("libamdhip64.so")
hip.hipGetErrorName.restype = ctypes.c_char_p


def check(code):
    if code != 0:
        sys.exit(hip.hipGetErrorName(code).decode())


properties = (ctypes.c_char * 1472)()  # hipDeviceProp_tR0600
check(hip.hipGetDevicePropertiesR0600(properties, 0))
assert bytes(properties[1160:1166]) == b"gfx950"  # gcnArchName

module, function, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(hip.hipModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
check(hip.hipModuleGetFunction(ctypes.byref(function), module, b"store_at"))
check(hip.hipMalloc(ctypes.byref(device), ctypes.c_size_t(16)))
check(hip.hipMemset(device, 0, ctypes.c_size_t(16)))
arguments = [ctypes.c_void_p(device.value), ctypes.c_long(1), ctypes.c_int(9)]
pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
check(hip.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, pointers, None))
values = (ctypes.c_int * 4)()
check(hip.hipMemcpy(values, device, ctypes.c_size_t(16), 2))
assert list(values) == [0, 9, 0, 0], list(values)
