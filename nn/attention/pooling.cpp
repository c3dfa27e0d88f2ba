#include "nn/attention/pooling.h"

namespace heed {

Tensor attention_pool(Operand weights, Operand values, const Mask& mask) {
  check_in("attention_pool", weights->dim() >= 1 && values->dim() >= 1, "weights are ", weights->shape(),
           ", values ", values->shape(), "; weights must be [..., queries, keys], values [..., keys, width]");
  const int64_t keys = values->size(values->dim() == 1 ? 0 : -2);
  check_in("attention_pool", weights->size(-1) == keys, "weights ", weights->shape(), " are for ",
           weights->size(-1), " keys, values ", values->shape(), " for ", keys, "; each key needs one value");
  Tensor output = matmul(weights, mask.zero_unattended(values));
  capture_attention(weights);  // last: weights may be an element of an observer's list, which grows
  return output;
}

}  // namespace heed
