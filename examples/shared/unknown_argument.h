#pragma once

#include <string>
#include <vector>

namespace program {

/// The message for arguments that a program does not take. `options` are the names of its options. If one of
/// them is near an unknown one, with at most a third of the letters wrong, the message suggests it:
/// "there is no option --modell; did you mean --model?".
std::string unknown_argument(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& options);

}  // namespace program
