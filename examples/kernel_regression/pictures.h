#pragma once

#include <string>
#include <vector>

#include "examples/kernel_regression/search.h"
#include "examples/shared/program.h"

/// The pictures that examples/kernel_regression draws.
namespace program {

using Numbers = std::vector<double>;

/// Rows of attention weights, one for each query. Where there are many keys a column is the sum over several.
struct HeatMap {
  Numbers queries;
  Numbers keys;  // the first key of each column
  std::vector<Numbers> rows;
  int64_t key_count = 0;
  double entropy = 0;  // mean over the rows of -sum alpha log alpha, keys counted one by one
};

/// The weights of each query over all keys (sorted) under a Gaussian kernel.
HeatMap heat_map(const Numbers& queries, const Numbers& keys, double w);

struct Labels {
  std::string title, x, y;
};

/// A curve over x for fits.svg.
struct Curve {
  std::string name;
  Numbers y;
};

void draw_fits(Program& self, const Labels& labels, const Numbers& x, const Numbers& y,
               const Numbers& curve_x, const std::vector<Curve>& curves);
/// Two pictures on one colour scale.
void draw_heat_maps(Program& self, const Labels& labels, const HeatMap& before, double w_before,
                    const HeatMap& after, double w_after);
/// The descents step by step, and the loss over all w with the way of each.
void draw_losses(Program& self, const Search& search);
/// One query against all keys: each point as large as its weight, and the mixed value.
void draw_query(Program& self, const Labels& labels, const Numbers& x, const Numbers& y,
                const Numbers& weights, double query, double prediction);

}  // namespace program
