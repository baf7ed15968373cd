/* mlaforge.h is C: this file only has to compile as C11, and its one function is called by the C++ test. */
#include "mlaforge/mlaforge.h"

int mlaforge_test_c_face(void);

int mlaforge_test_c_face(void) {
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  mlaforge_tensors tensors = MLAFORGE_TENSORS_INIT;
  mlaforge_kernel_set set = MLAFORGE_KERNEL_SET_INIT;
  mlaforge_device_info info = MLAFORGE_DEVICE_INFO_INIT;
  return options.struct_size == sizeof options && problem.struct_size == sizeof problem &&
         choice.struct_size == sizeof choice && tensors.struct_size == sizeof tensors &&
         set.struct_size == sizeof set && info.struct_size == sizeof info;
}
