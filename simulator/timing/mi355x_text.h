// The device file that is built in (written by embed_device.cmake).
#pragma once

#include <string_view>

namespace mlaforge::simulator::timing {

std::string_view mi355x_text();

}  // namespace mlaforge::simulator::timing
