#include "nn/transformer/block.h"

namespace heed::detail {

Tensor feed_forward(const Tensor& x, const Linear& linear1, const Linear& linear2,
                    const TransformerOptions& options, bool training) {
  const Tensor h = linear1(x);
  const Tensor active = options.activation == Activation::relu ? relu(h) : gelu(h);
  return linear2(F::dropout(active, options.dropout, training));
}

}  // namespace heed::detail
