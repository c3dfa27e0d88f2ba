#pragma once

#include "tests/support/results.h"

/// Runs attention_by_hand, for the tests of its examples.

using Rows = std::vector<Values>;

inline Json by_hand(const std::string& example, const std::string& more = "") {
  return results_of("attention_by_hand", "--example " + example + " " + more);
}

inline std::string told_by_hand(const std::string& example) {
  const Run done = run_program("attention_by_hand", "--example " + example);
  CHECK(done.code == 0);
  return done.out;
}

inline Rows rows(const Json& matrix) { return matrix.get<Rows>(); }
inline Rows rows(const Tensor& matrix) {
  Rows lines;
  for (int64_t i = 0; i < matrix.size(0); ++i) lines.push_back(values(matrix[i]));
  return lines;
}

/// The largest difference between elements; infinite if the sizes differ or one is NaN.
inline double distance(const Json& a, const Rows& b) {
  const Rows x = rows(a);
  double most = x.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < x.size() && i < b.size(); ++i) most = std::max(most, largest_difference(x[i], b[i]));
  return most;
}
