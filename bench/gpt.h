// A small GPT, for a step on one process or several.
#pragma once

#include <heed.h>

namespace bench {

// Layers with the norms before each part; the words' vectors are also what the output is scored with.
struct Gpt : heed::Layer<Gpt> {
  struct Options {
    int64_t width = 384, heads = 6, layers = 6, length = 256, words = 65;
  };
  explicit Gpt(const Options& o)
      : words(o.words, o.width),
        position(o.length, o.width),
        blocks(o.width, o.heads, o.layers,
               heed::TransformerOptions{.dim_feedforward = 4 * o.width,
                                        .dropout = 0,
                                        .activation = heed::Activation::gelu,
                                        .norm_first = true,
                                        .final_norm = true}) {}

  heed::Tensor forward(const heed::Tensor& x) const {
    const heed::Tensor y = blocks(position(words(x)), heed::AttentionOptions{.is_causal = true});
    return heed::F::linear(y, words.weight);
  }

  void visit(heed::Visitor& v) override {
    v("words", words);
    v("position", position);
    v("blocks", blocks);
  }

  heed::Embedding words;
  heed::LearnedPosition position;
  heed::TransformerEncoder blocks;
};

}  // namespace bench
