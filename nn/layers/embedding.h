#pragma once

#include <optional>

#include "autograd/ops.h"
#include "nn/init.h"
#include "nn/module.h"

namespace heed {

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};  // this row is zero at the start and never learns; -1 is the last
};

/// A vector for each of a number of words, characters, ...: y = weight[index]
///
///   index      [...] int64 in [0, num_embeddings)
///   returns    [..., embedding_dim]
///
/// Start: normal with mean 0 and variance 1; the padding row zero.
class Embedding : public Layer<Embedding> {
 public:
  Embedding(int64_t num_embeddings, int64_t embedding_dim, EmbeddingOptions options = {})
      : weight(init::normal({num_embeddings, embedding_dim})) {
    if (!options.padding_idx) return;
    const int64_t row = *options.padding_idx;
    check(row >= -num_embeddings && row < num_embeddings, "Embedding: padding_idx ", row, " is not in [",
          -num_embeddings, ", ", num_embeddings, ")");
    padding_idx = row < 0 ? row + num_embeddings : row;
    const NoGrad guard;
    zero_(select(weight, 0, *padding_idx));
  }

  Tensor forward(const Tensor& index) const { return embedding(weight, index, padding_idx); }

  void visit(Visitor& v) override { v("weight", weight); }

  Parameter weight;  // [num, dim]
  std::optional<int64_t> padding_idx;
};

}  // namespace heed
