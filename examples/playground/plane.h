#pragma once

#include <span>
#include <vector>

/// Bench 2, score, normalizer and width: five keys in a plane, and which of them a query chooses.
///
/// In requests, `score` is 0 for the dot product q . k, 1 for q . k / sqrt(d), 2 for the additive score
/// sum_j tanh(q W + k)_j, 3 for the bilinear score q W . k, 4 for the Gaussian score -|q - k|^2 / 2.
/// `normalizer` is 0 for softmax, 1 for sparsemax, 2 for 1.5-entmax, 3 for hard attention, which draws one
/// key with the probabilities of the softmax.
namespace program {

/// Scores and weights of one query, and the choice of a query at each place of the plane.
///
///   request  score, normalizer, d, n, query [2], keys [n, 2], W [2, 2], low, high, pixels
///   answer   scores [n], weights [n] (hard attention: the probabilities of the softmax), d weight_i / d
///            score_j [n, n], entropy of the weights in nats,
///            then for each pixel, row by row from the top: the key of the largest weight and that weight
///            (hard attention: the key that was drawn there, and 1)
///
/// The pixels are a square of pixels x pixels from low to high in both directions. Beyond the two coordinates
/// of the plane, query and keys have d - 2 further ones: normal random numbers, the same in each call and for
/// all pixels. For them W is the identity. Errors: a number out of range (d from 2 to 1024).
std::vector<float> plane(std::span<const float> request);

/// Hard attention, many times: how often each key is drawn.
///
///   request  seed, count, n, weights [n]
///   answer   how often each key was drawn [n]; their sum is count
///
/// Errors: a number out of range, a negative weight, no positive weight.
std::vector<float> plane_darts(std::span<const float> request);

/// Learns W of the bilinear score from answers alone. The keys are five random points of a circle of radius 2
/// and have random values. To each key k belongs the query k R, R a fixed hidden rotation, and its right
/// answer is the value of k. The loss is the squared error of the answers; all points are new at each step.
///
///   request  seed, learning rate, steps, W [2, 2]
///   answer   W [2, 2] after the steps of gradient descent; before the last of them, the loss and the share
///   of
///            queries whose own key has the largest weight
std::vector<float> plane_learn(std::span<const float> request);

/// The first requests of the page.
std::vector<float> plane_first();
std::vector<float> plane_darts_first();
std::vector<float> plane_learn_first();

}  // namespace program
