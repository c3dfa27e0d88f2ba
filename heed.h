#pragma once

/// @file
/// The whole library.

/// @mainpage
/// The whole library, by `#include <heed.h>`; everything is in the namespace heed. The [files](files.html) are its
/// headers, each with what it holds; from the names in them, and from the search, the way leads to formula, shapes and
/// errors.
///
/// | folder | what is in it |
/// |---|---|
/// | `tensor/` | values without derivatives: shapes, storage, views, random numbers, printing |
/// | `autograd/` | derivatives: record(), the engine, gradient checks |
/// | `autograd/ops/` | every operation, a header for each family |
/// | `nn/` | modules, functions without state (F), start values (init), files |
/// | `nn/attention/` | masks, scores, normalisers, attention with several heads, positions |
/// | `nn/layers/` | linear maps, embeddings, norms, dropout, activations |
/// | `nn/recurrent/` | networks that go from step to step: RNN, GRU, LSTM |
/// | `nn/transformer/` | encoder and decoder |
/// | `nn/text/` | vocabularies, byte pairs, batches, search, sampling, BLEU |
/// | `nn/optim/` | optimisers, schedules, clipping |
/// | `nn/view/` | captured weights as text, heat map and page; the steps of the engine; summaries |
///
/// A shape is written as [B, T, E], sizes in brackets: B batch, T time, E embedding, H heads, C channels or classes;
/// "..." is any number of dimensions. What throws an Error stands behind "Errors"; what is common to the operations of
/// a header, such as dtypes that differ, is said on its page. "Start" is the law of a layer's parameters before
/// learning, "State dict" their names in files, which are PyTorch's.

#include "autograd/anomaly.h"
#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/grad_mode.h"
#include "autograd/gradcheck.h"
#include "autograd/graph.h"
#include "autograd/ops.h"
#include "nn/any_part.h"
#include "nn/attention/kernel_regression.h"
#include "nn/attention/mask.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/normaliser.h"
#include "nn/attention/pooling.h"
#include "nn/attention/position.h"
#include "nn/attention/score.h"
#include "nn/check_module.h"
#include "nn/checkpoint.h"
#include "nn/diagnose.h"
#include "nn/file.h"
#include "nn/functional.h"
#include "nn/init.h"
#include "nn/layers/activation.h"
#include "nn/layers/dropout.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "nn/module.h"
#include "nn/npy.h"
#include "nn/optim/averaged_model.h"
#include "nn/optim/clip.h"
#include "nn/optim/optimizer.h"
#include "nn/optim/schedule.h"
#include "nn/parameter.h"
#include "nn/recurrent/recurrent.h"
#include "nn/safetensors.h"
#include "nn/table.h"
#include "nn/text/batch.h"
#include "nn/text/byte_pairs.h"
#include "nn/text/metrics.h"
#include "nn/text/sample.h"
#include "nn/text/search.h"
#include "nn/text/sequence_loss.h"
#include "nn/text/tokenise.h"
#include "nn/text/utf8.h"
#include "nn/text/vocabulary.h"
#include "nn/transformer/transformer.h"
#include "nn/view/capture.h"
#include "nn/view/heat_map.h"
#include "nn/view/page.h"
#include "nn/view/profile.h"
#include "nn/view/rules.h"
#include "nn/view/summary.h"
#include "nn/view/tape.h"
#include "nn/view/tape_page.h"
#include "nn/view/text.h"
#include "tensor/create.h"
#include "tensor/index.h"
#include "tensor/memory.h"
#include "tensor/parallel.h"
#include "tensor/random.h"
#include "tensor/tensor.h"
#include "tensor/version.h"

namespace heed::F {

using heed::elu, heed::gelu, heed::leaky_relu, heed::log_softmax, heed::masked_softmax, heed::one_hot,
    heed::relu, heed::sigmoid, heed::silu, heed::softmax, heed::softplus, heed::sparsemax, heed::tanh;
using heed::embedding, heed::layer_norm, heed::linear, heed::rms_norm;

}  // namespace heed::F
