#pragma once

#include "examples/shared/program.h"

namespace program {

/// The ablation of 1 / sqrt(d): for unit-normal q and k of width d the variance of q . k, and the entropy and
/// the slope of the softmax of such scores, scaled and not. With --out a picture.
void compare_scale(Program& self);

/// -sum_j a_j log a_j for each row of weights: 0 where one key has all, log T where all T have the same.
heed::Tensor row_entropy(const heed::Tensor& weights);

/// The Frobenius norm of the Jacobian of softmax, J_ij = d a_i / d s_j = a_i ([i == j] - a_j), for each row.
heed::Tensor jacobian_norm(const heed::Tensor& weights);

}  // namespace program
