#include "nn/transformer/transformer.h"

#include "nn/init.h"

namespace heed {
namespace {

TransformerOptions with_final_norm(TransformerOptions options) {
  options.final_norm = true;
  return options;
}

}  // namespace

Transformer::Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                         int64_t num_decoder_layers, TransformerOptions options)
    : encoder(d_model, nhead, num_encoder_layers, with_final_norm(options)),
      decoder(d_model, nhead, num_decoder_layers, with_final_norm(options)) {
  const NoGrad no_history;
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) copy_(parameter, init::xavier_uniform(parameter.shape()));
}

}  // namespace heed
