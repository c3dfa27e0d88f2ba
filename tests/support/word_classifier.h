#pragma once

#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/transformer/transformer.h"

/// Classifies sentences [B, T] over 40 words into 5 classes, with attention.
struct WordClassifier : heed::Layer<WordClassifier> {
  WordClassifier(int64_t layers, const heed::TransformerOptions& options) : encoder(16, 2, layers, options) {}
  heed::Tensor forward(const heed::Tensor& ids) const { return last(mean(encoder(words(ids)), 1)); }
  void visit(heed::Visitor& v) override {
    v("words", words);
    v("encoder", encoder);
    v("last", last);
  }
  heed::Embedding words{40, 16};
  heed::TransformerEncoder encoder;
  heed::Linear last{16, 5};
};
