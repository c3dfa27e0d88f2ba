#pragma once

/// @file
/// What a program needs: tensors, derivatives, layers, attention, optimizers.

/// @mainpage
/// `#include <heed.h>` is what a program needs: tensors, derivatives, layers, attention, optimizers. Further
/// parts have headers of their own: heed/training.h, heed/text.h, heed/view.h, heed/files.h, heed/onnx.h,
/// heed/debug.h. Everything is in the namespace heed. The [files](files.html) list every header with its
/// contents; each name there, and the search, lead to formula, shapes and errors.
///
/// | folder | what is in it |
/// |---|---|
/// | `tensor/` | values without derivatives: shapes, storage, views, random numbers, printing |
/// | `autograd/` | derivatives: record(), the engine |
/// | `autograd/ops/` | every operation, a header for each family |
/// | `autograd/debug/` | gradient checks, graphs as text |
/// | `nn/` | modules, functions without state (F), start values (init) |
/// | `nn/attention/` | masks, scores, normalisers, attention with several heads, positions |
/// | `nn/layers/` | linear maps, convolutions, pooling, embeddings, norms, dropout, activations |
/// | `nn/recurrent/` | networks that go from step to step: RNN, GRU, LSTM |
/// | `nn/transformer/` | encoder and decoder |
/// | `nn/optim/` | optimizers, schedules, clipping |
/// | `nn/training/` | the loop of a training: batches, evaluation, progress, log, checkpoints |
/// | `nn/files/` | safetensors, .npy, CSV, checkpoints |
/// | `nn/onnx/` | models in ONNX files |
/// | `nn/text/` | vocabularies, byte pairs, batches, search, sampling, BLEU |
/// | `nn/view/` | captured weights as text, heat map and page; the steps of the engine; summaries |
/// | `nn/debug/` | check_module, diagnose, profiles, anomaly detection |
///
/// A shape is written as [B, T, E], sizes in brackets: B batch, T time, E embedding, H heads, C channels or
/// classes; "..." is any number of dimensions. "Errors" lists what throws an Error; errors common to all
/// operations of a header, such as mixed dtypes, are on the header's page. "Start" is the distribution of a
/// layer's parameters before training, "State dict" their names in files, which are PyTorch's.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/functional.h"
#include "autograd/grad_mode.h"
#include "autograd/ops.h"
#include "nn/any_callable.h"
#include "nn/attention/alignment.h"
#include "nn/attention/core.h"
#include "nn/attention/kernel_regression.h"
#include "nn/attention/key_value_cache.h"
#include "nn/attention/linear_attention.h"
#include "nn/attention/mask.h"
#include "nn/attention/memory.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/normaliser.h"
#include "nn/attention/pooling.h"
#include "nn/attention/position.h"
#include "nn/attention/position_bias.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/attention/score.h"
#include "nn/attention/state_core.h"
#include "nn/functional.h"
#include "nn/init.h"
#include "nn/layers/activation.h"
#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/layers/dropout.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/pool.h"
#include "nn/layers/sequential.h"
#include "nn/layers/swiglu.h"
#include "nn/module.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/averaged_model.h"
#include "nn/optim/clip.h"
#include "nn/optim/schedule.h"
#include "nn/optim/sgd.h"
#include "nn/parameter.h"
#include "nn/recurrent/recurrent.h"
#include "nn/training/batches.h"
#include "nn/training/evaluation.h"
#include "nn/training/metrics.h"
#include "nn/transformer/transformer.h"
#include "tensor/create.h"
#include "tensor/index.h"
#include "tensor/memory.h"
#include "tensor/parallel.h"
#include "tensor/random.h"
#include "tensor/tensor.h"
#include "tensor/version.h"

namespace heed::F {

using heed::avg_pool1d, heed::avg_pool2d, heed::batch_norm, heed::conv1d, heed::conv2d,
    heed::conv_transpose1d, heed::conv_transpose2d, heed::fold, heed::group_norm, heed::max_pool1d,
    heed::max_pool2d, heed::unfold;
using heed::elu, heed::gelu, heed::leaky_relu, heed::log_softmax, heed::masked_softmax, heed::one_hot,
    heed::relu, heed::sigmoid, heed::silu, heed::softmax, heed::softplus, heed::sparsemax, heed::tanh;
using heed::embedding, heed::layer_norm, heed::linear, heed::rms_norm;

}  // namespace heed::F

#endif
