#include "nn/recurrent/recurrent.h"

#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "nn/functional.h"
#include "tensor/create.h"

namespace heed {
namespace {

void check_state(const char* layer, const char* state, const Tensor& given, const Shape& shape) {
  if (!given.defined()) return;
  check(given.shape() == shape, layer, ": ", state, " is ", given.shape(), "; for this input it must be ",
        shape);
}

// The state as `recurrence` takes it, for an lstm h and c side by side. What is not given is zero.
Tensor joined(Recurrence kind, const Tensor& h, const Shape& h_shape, const Tensor& c, const Shape& c_shape,
              DType dtype) {
  if (kind != Recurrence::lstm || (!h.defined() && !c.defined())) return h;
  return cat({h.defined() ? h : zeros(h_shape, dtype), c.defined() ? c : zeros(c_shape, dtype)}, -1);
}

}  // namespace

Recurrence rnn_kind(init::Nonlinearity nonlinearity) {
  check(nonlinearity == init::Nonlinearity::tanh || nonlinearity == init::Nonlinearity::relu,
        "RNN: the nonlinearity is tanh or relu");
  return nonlinearity == init::Nonlinearity::tanh ? Recurrence::rnn_tanh : Recurrence::rnn_relu;
}

RecurrentWeights::RecurrentWeights(Recurrence kind, int64_t input_size, int64_t hidden_size, bool bias,
                                   int64_t proj_size)
    : kind(kind) {
  constexpr int64_t most = int64_t{1} << 28;
  check(input_size > 0 && input_size <= most && hidden_size > 0 && hidden_size <= most,
        "a recurrent layer: input_size is ", input_size, ", hidden_size ", hidden_size,
        "; both must be from 1 to ", most);
  check(proj_size >= 0 && proj_size < hidden_size, "a recurrent layer: proj_size is ", proj_size,
        ", hidden_size ", hidden_size, "; proj_size must be smaller, and 0 means none");
  const int64_t rows = gate_count(kind) * hidden_size;
  const auto start = [&](const Shape& shape) { return init::uniform_fan_in(hidden_size, shape); };
  weight_ih = start({rows, input_size});
  weight_hh = start({rows, proj_size > 0 ? proj_size : hidden_size});
  if (bias) {
    bias_ih = start({rows});
    bias_hh = start({rows});
  }
  if (proj_size > 0) weight_hr = start({proj_size, hidden_size});
}

Tensor RecurrentWeights::step(const char* cell, const Tensor& x, const Tensor& h, const Tensor& c) const {
  check((x.dim() == 1 || x.dim() == 2) && x.shape().back() == input_size(), cell, ": x is ", x.shape(),
        "; it must be [B, ", input_size(), "] or [", input_size(), "]");
  const bool batched = x.dim() == 2;
  const Shape shape = batched ? Shape{x.size(0), hidden_size()} : Shape{hidden_size()};
  check_state(cell, "h", h, shape);
  check_state(cell, "c", c, shape);
  const auto batch = [&](const Tensor& t) { return batched || !t.defined() ? t : unsqueeze(t, 0); };
  const Tensor gates = batch(linear(x, weight_ih, bias_ih));
  const Tensor state = batch(joined(kind, h, shape, c, shape, x.dtype()));
  const Tensor y = select(recurrence(kind, unsqueeze(gates, 0), state, weight_hh, bias_hh), 0, 0);
  return batched ? y : select(y, 0, 0);
}

RecurrentStack::RecurrentStack(const char* name, Recurrence kind, int64_t input_size, int64_t hidden_size,
                               const RecurrentOptions& options)
    : options(options), name_(name) {
  check(options.num_layers > 0, name, ": num_layers is ", options.num_layers, "; there must be one at least");
  F::check_dropout(name, "dropout", options.dropout);
  check(options.proj_size == 0 || kind == Recurrence::lstm, name, ": only an LSTM has a proj_size");
  const int64_t width = options.proj_size > 0 ? options.proj_size : hidden_size;
  for (int64_t k = 0; k < options.num_layers * directions(); ++k)
    weights.emplace_back(kind, k < directions() ? input_size : directions() * width, hidden_size,
                         options.bias, options.proj_size);
}

void RecurrentStack::name_all(Visitor& v) {
  for (int64_t k = 0; k < std::ssize(weights); ++k)
    weights[k].name(v, "_l" + std::to_string(k / directions()) + (is_reverse(k) ? "_reverse" : ""));
}

// Sequences keep the order of dimensions that they are given in, so that products over all steps read and
// write them as they are; only the recurrence itself sees time first.
LSTMResult RecurrentStack::run(const Tensor& given, const Tensor& h_0, const Tensor& c_0,
                               const Tensor& lengths, bool training) const {
  const bool batched = given.dim() == 3;
  check((batched || given.dim() == 2) && given.size(-1) == input_size(), name_, ": x is ", given.shape(),
        "; it must be ", options.batch_first ? "[B, T, " : "[T, B, ", input_size(), "], or [T, ",
        input_size(), "] without a batch");
  const int64_t time = options.batch_first && batched ? 1 : 0;
  Tensor x = batched ? given : unsqueeze(given, 1);
  const int64_t steps = x.size(time), batch = x.size(1 - time), hidden = hidden_size();
  const int64_t width = weights.front().weight_hh.size(1), count = std::ssize(weights);
  check(steps > 0, name_, ": x is ", given.shape(), "; a sequence must have one step at least");
  const auto time_first = [&](const Tensor& t) { return time == 1 ? transpose(t, 0, 1) : t; };

  const auto state_shape = [&](int64_t size) {
    return batched ? Shape{count, batch, size} : Shape{count, size};
  };
  check_state(name_, "h_0", h_0, state_shape(width));
  check_state(name_, "c_0", c_0, state_shape(hidden));
  const Recurrence kind = weights.front().kind;
  const bool lstm = kind == Recurrence::lstm;
  Tensor state = joined(kind, h_0, state_shape(width), c_0, state_shape(hidden), x.dtype());
  if (state.defined() && !batched) state = unsqueeze(state, 1);  // [layers * directions, B, size]

  Tensor valid;
  if (lengths.defined()) {
    check(batched && lengths.shape() == Shape{batch}, name_, ": lengths are ", lengths.shape(), ", x is ",
          given.shape(),
          batched ? "; there must be one for each sequence" : "; without a batch give the sequence alone");
    valid = time_first(transpose(transpose(Mask::lengths(lengths, steps).allowed(), 1, 2), 0, 1));
    x = where(valid, x, 0);  // whatever is there: 0 times an infinity would be felt in gradients
  }

  std::vector<Tensor> outputs, last_h, last_c;
  for (int64_t k = 0; k < count; ++k) {
    const RecurrentWeights& w = weights[k];
    const bool reverse = is_reverse(k);
    const Tensor before = state.defined() ? select(state, 0, k) : Tensor();
    const Tensor states =
        recurrence(kind, time_first(linear(x, w.weight_ih, w.bias_ih)), before, w.weight_hh, w.bias_hh,
                   {.lengths = lengths, .reverse = reverse, .projection = w.weight_hr});
    const Tensor last = select(states, 0, reverse ? 0 : steps - 1);
    outputs.push_back(time_first(lstm ? narrow(states, 2, 0, width) : states));
    last_h.push_back(lstm ? narrow(last, 1, 0, width) : last);
    if (lstm) last_c.push_back(narrow(last, 1, width, hidden));
    if (options.bidirectional && !reverse) continue;
    x = reverse ? cat(outputs, 2) : outputs[0];
    outputs.clear();
    if (k + 1 < count) x = F::dropout(x, options.dropout, training);
  }
  if (valid.defined()) x = where(valid, x, 0);
  const auto result = [&](const Tensor& t) { return batched ? t : squeeze(t, 1); };
  return {result(x), result(stack(last_h)), lstm ? result(stack(last_c)) : Tensor()};
}

}  // namespace heed
