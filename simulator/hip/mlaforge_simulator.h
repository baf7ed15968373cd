/* What the simulator's library exports beside the HIP API: options, reports of faults, and counts. Plain C, so that any
 * program can find these by dlsym. HIP streams run synchronously and in order: a call returns when its work is done,
 * and the call that caused a fault returns its error. No error is sticky: the next launch runs. */
#ifndef MLAFORGE_SIMULATOR_H
#define MLAFORGE_SIMULATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0". */
const char* mlaforge_simulator_version(void);

/* Sets an option of the device, for launches from now on. 0: done; 1 (hipErrorInvalidValue): unknown key or value, see
 * the report. Every option can also be given by an environment variable, read when the library is first used.
 *
 *   key                environment                     values
 *   memory             MLAFORGE_SIM_MEMORY             lazy (default), clobber, eager, random:SEED: when bytes move
 *   checks             MLAFORGE_SIM_CHECKS             none (default), all, or a list of lds_races, global_races,
 *                                                      uninitialized, wait_states, alignment, dma_full_exec,
 *                                                      barrier_exit
 *   threads            MLAFORGE_SIM_THREADS            host threads, 0 (default): all
 *   devices            MLAFORGE_SIM_DEVICES            1 (default) to 16: devices, each with memory of its own
 *   instruction_limit  MLAFORGE_SIM_INSTRUCTION_LIMIT  instructions of a wave beyond which a launch is an endless loop
 *   poison             MLAFORGE_SIM_POISON             0 (default) or 1: fill new allocations with 0xFB, not with zeros
 *   reports            MLAFORGE_SIM_REPORTS            none (default) or stderr: print every failure's report
 *   hip_abi            MLAFORGE_SIM_HIP_ABI            5 or 6: values of hipMemoryType; default 6, but 5 if the library
 *                                                      was loaded as libamdhip64.so.5
 *   timing             MLAFORGE_SIM_TIMING             0 (default) or 1: launches are timed by the cycle model; only
 *                                                      the workgroups that stand for the launch are executed.
 *                                                      Setting it forgets the timings so far
 *   timing_trace       MLAFORGE_SIM_TIMING_TRACE       0 (default) or 1: keep what the waves of one CU do
 *   timing_ranges      MLAFORGE_SIM_TIMING_RANGES      1 (default) or 0: the nominal numbers only, in a third of the work
 *   timing_budget      MLAFORGE_SIM_TIMING_BUDGET      wave instructions that a replay may have; more are extrapolated
 *   wait_watch         MLAFORGE_SIM_WAIT_WATCH         none (default) or KERNEL:OFFSET:VMCNT:LGKMCNT: watch what that
 *                                                      kernel's instruction at OFFSET bytes from its entry no longer
 *                                                      waits for, where it once was a wait of these counts */
int mlaforge_simulator_set_option(const char* key, const char* value);

/* The last failure of this thread as a paragraph for people, or "" if there was none. Valid until the thread's next
 * failure. */
const char* mlaforge_simulator_last_report(void);

/* The same as JSON: {"function", "error", "message"} and, for a fault of a kernel, {"kind", "kernel", "address",
 * "disassembly", "workgroup", "wave", "lane"}. "{}" if there was none. */
const char* mlaforge_simulator_last_report_json(void);

/* Counts of the last launch of this thread, whole or stopped by a fault: {"kernel", "workgroups", "waves",
 * "instructions"} (instructions of waves). "{}" before the first. */
const char* mlaforge_simulator_stats_json(void);

/* The waits and barriers of a code object's kernels: {KERNEL: [{"offset" (bytes from the kernel's entry),
 * "file_offset", "text", "word", "barrier", "vmcnt", "lgkmcnt"}]}. "{}" if it cannot be read, see the report. */
const char* mlaforge_simulator_wait_points_json(const void* image, size_t bytes);

/* What the launches since wait_watch was set saw: {"executions", "released": [{"operation", "store", "end" (wait,
 * full_counter, wave_end), "until", "count"}]}, the operations that the original alone would have waited for. */
const char* mlaforge_simulator_wait_watch_json(void);

/* The launches timed since timing was set, and the device's parameters for putting them together: {"device",
 * "launches": [{"kernel", "us": {"low", "nominal", "high"}, "bounds_us", "wave_time", "steady_loop", "grid", ...}]}.
 * All of it is predicted. Valid until the thread's next call. */
const char* mlaforge_simulator_timing_json(void);

/* The same launches as a trace in Chrome's JSON format, which Perfetto opens; with timing_trace. */
const char* mlaforge_simulator_timing_trace_json(void);

#ifdef __cplusplus
}
#endif

#endif
