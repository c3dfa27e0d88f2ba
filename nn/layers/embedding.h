#pragma once

#include "autograd/ops/in_place.h"
#include "autograd/ops/index.h"
#include "autograd/ops/shape.h"
#include "nn/init.h"
#include "nn/module.h"

/// Embedding.
namespace heed {

/// Options of Embedding.
struct EmbeddingOptions {
  /// A row that starts at zero and gets no gradient; -1 is the last row.
  std::optional<int64_t> padding_idx = {};
};

/// y = weight[index]: a learned vector for each word, character, ...
///
///   index      [...] int64 in [0, num_embeddings)
///   returns    [..., embedding_dim]
///
/// Start: normal with mean 0 and variance 1, or the matrix given to the constructor, [num_embeddings,
/// embedding_dim]; the padding row is zero. To freeze the vectors: embedding.requires_grad_(false).
///
/// A tied output projection computes the scores of all words from the same vectors. It takes one line in the
/// model's forward and one in its visit:
///
///   Tensor forward(const Tensor& words) const {
///     return F::linear(body(embedding(words)), embedding.weight);
///   }
///   void visit(Visitor& v) override {
///     v("embedding", embedding);
///     v("body", body);
///     v("head.weight", embedding.weight);
///   }
///
/// parameters() contains the matrix once. The state dict contains it under both names; either is enough to
/// load it.
///
/// State dict: weight. Errors: an index that is not int64 or outside of [0, num_embeddings); a padding_idx
/// outside of the matrix; a start that is not a matrix.
struct Embedding : Layer<Embedding> {
  Embedding(int64_t num_embeddings, int64_t embedding_dim, EmbeddingOptions options = {})
      : Embedding(init::normal({num_embeddings, embedding_dim}), options) {}
  /// Copies the vectors of a matrix [num_embeddings, embedding_dim].
  explicit Embedding(Tensor start, EmbeddingOptions options = {}) : weight(std::move(start)) {
    check_in("Embedding", weight.dim() == 2, "the start has shape ", weight.shape(),
             "; it must be [num_embeddings, embedding_dim]");
    if (!options.padding_idx) return;
    const int64_t row = *options.padding_idx, rows = weight.size(0);
    check_in("Embedding", row >= -rows && row < rows, "padding_idx ", row, " is not in [", -rows, ", ", rows,
             ")");
    padding_idx = row < 0 ? row + rows : row;
    const NoGrad guard;
    zero_(select(weight, 0, *padding_idx));
  }

  Tensor forward(const Tensor& index) const { return embedding(weight, index, padding_idx); }

  void visit(Visitor& v) override { v("weight", weight); }

  Parameter weight;                    ///< [num_embeddings, embedding_dim]
  std::optional<int64_t> padding_idx;  ///< Not negative.
};

}  // namespace heed
