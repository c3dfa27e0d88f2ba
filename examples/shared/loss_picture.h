#pragma once

#include "examples/shared/program.h"
#include "nn/training/log.h"

namespace program {

/// Draws loss curves into one picture, `file`.svg. Each point is the mean of neighboring steps.
void draw_losses(Program& self, const std::string& file, const std::vector<heed::LossCurve>& curves);

}  // namespace program
