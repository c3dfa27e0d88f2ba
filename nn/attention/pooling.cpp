#include "nn/attention/pooling.h"

#include "autograd/ops/shape.h"

namespace heed {

Tensor attention_pool(Operand weights, Operand values) {
  check(weights->dim() >= 1 && values->dim() >= 1, "attention_pool: weights are ", weights->shape(),
        ", values ", values->shape(), "; weights must be [..., queries, keys], values [..., keys, width]");
  check(weights->size(-1) == values->size(values->dim() == 1 ? 0 : -2), "attention_pool: weights ",
        weights->shape(), " are for ", weights->size(-1), " keys, values ", values->shape(), " for ",
        values->size(values->dim() == 1 ? 0 : -2), "; each key needs one value");
  Tensor output = matmul(weights, values);
  capture_attention(weights);  // last: weights may be a reference into what the scope holds, which grows
  return output;
}

}  // namespace heed
