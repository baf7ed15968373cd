// Watches a workgroup run: what the timing mode records through. Called on the host thread that runs the workgroup.
#pragma once

#include "simulator/exec/memory_queue.h"

namespace mlaforge::simulator {

class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void start(const Workgroup& group) = 0;
  /// Before the instruction is executed.
  virtual void instruction(const Wave& wave, const Instruction& instruction) = 0;
  /// A memory operation is issued, its lanes' addresses resolved; it belongs to the last instruction of the wave.
  virtual void memory(const Wave& wave, const PendingOp& op) = 0;
};

}  // namespace mlaforge::simulator
