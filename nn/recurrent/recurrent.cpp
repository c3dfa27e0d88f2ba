#include "nn/recurrent/recurrent.h"

#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "nn/attention/mask.h"
#include "nn/functional.h"

namespace heed {

// The state for recurrence(), [lead..., S]: h, for an lstm h and c side by side. An undefined one is zero.
// Throws if a shape is wrong; `suffix` completes the names in messages.
static Tensor joined_state(const RecurrentWeights& w, const char* layer, const char* suffix, const Tensor& h,
                           const Tensor& c, const Shape& lead, DType dtype) {
  const auto checked = [&](const char* name, const Tensor& given, int64_t size) {
    const Shape shape = lead.inserted(lead.dim(), size);
    if (!given.defined()) return zeros(shape, dtype);
    check_in(layer, given.shape() == shape, name, suffix, " is ", given.shape(),
             "; for this input it must be ", shape);
    return given;
  };
  if (!h.defined() && !c.defined()) return {};
  const Tensor h_or_zero = checked("h", h, w.weight_hh.size(1));
  return w.kind == Recurrence::lstm ? cat({h_or_zero, checked("c", c, w.hidden_size())}, -1) : h_or_zero;
}

Recurrence rnn_kind(init::Nonlinearity nonlinearity) {
  check_in("RNN", nonlinearity == init::Nonlinearity::tanh || nonlinearity == init::Nonlinearity::relu,
           "the nonlinearity is tanh or relu");
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
  check_in(cell, (x.dim() == 1 || x.dim() == 2) && x.shape().back() == input_size(), "x is ", x.shape(),
           "; it must be [B, ", input_size(), "] or [", input_size(), "]");
  const bool batched = x.dim() == 2;
  const auto batch = [&](const Tensor& t) { return batched || !t.defined() ? t : unsqueeze(t, 0); };
  const Shape lead = batched ? Shape{x.size(0)} : Shape{};
  const Tensor state = batch(joined_state(*this, cell, "", h, c, lead, x.dtype()));
  const Tensor gates = batch(linear(x, weight_ih, bias_ih));
  const Tensor y = select(recurrence(kind, unsqueeze(gates, 0), state, weight_hh, bias_hh), 0, 0);
  return batched ? y : select(y, 0, 0);
}

RecurrentStack::RecurrentStack(const char* name, Recurrence kind, int64_t input_size, int64_t hidden_size,
                               const RecurrentOptions& options)
    : options(options), name_(name) {
  check_in(name, options.num_layers > 0, "num_layers is ", options.num_layers,
           "; there must be at least one");
  F::check_dropout(name, "dropout", options.dropout);
  check_in(name, options.proj_size == 0 || kind == Recurrence::lstm, "only an LSTM has a proj_size");
  const int64_t width = options.proj_size > 0 ? options.proj_size : hidden_size;
  for (int64_t k = 0; k < options.num_layers * directions(); ++k)
    weights.emplace_back(kind, k < directions() ? input_size : directions() * width, hidden_size,
                         options.bias, options.proj_size);
}

void RecurrentStack::visit(Visitor& v) {
  for (int64_t k = 0; k < std::ssize(weights); ++k)
    weights[k].name(v, "_l" + std::to_string(k / directions()) + (k % directions() == 1 ? "_reverse" : ""));
}

// Sequences keep the order of their dimensions, so that products over all steps need no copy; only
// recurrence() gets time first.
LSTMResult RecurrentStack::run(const Tensor& given, const Tensor& h_0, const Tensor& c_0,
                               const Tensor& lengths) const {
  const bool batched = given.dim() == 3;
  check_in(name_, (batched || given.dim() == 2) && given.size(-1) == input_size(), "x is ", given.shape(),
           "; it must be ", options.batch_first ? "[B, T, " : "[T, B, ", input_size(), "], or [T, ",
           input_size(), "] without a batch");
  const int64_t time = options.batch_first && batched ? 1 : 0;
  const auto time_first = [&](const Tensor& t) { return time == 1 ? transpose(t, 0, 1) : t; };
  Tensor x = batched ? given : unsqueeze(given, 1);
  const int64_t steps = x.size(time), batch = x.size(1 - time), count = std::ssize(weights);
  check_in(name_, steps > 0, "x is ", given.shape(), "; a sequence must have at least one step");
  const Shape lead = batched ? Shape{count, batch} : Shape{count};
  Tensor state = joined_state(weights[0], name_, "_0", h_0, c_0, lead, x.dtype());
  if (state.defined() && !batched) state = unsqueeze(state, 1);  // [layers * directions, B, S]

  Tensor valid;  // false for padding; broadcasts to x
  if (lengths.defined()) {
    check_in(name_, batched && lengths.shape() == Shape{batch}, "lengths are ", lengths.shape(), ", x is ",
             given.shape(),
             batched ? "; there must be one for each sequence" : "; without a batch give the sequence alone");
    const Tensor batch_first = transpose(Mask::lengths(lengths, steps).allowed(), 1, 2);  // [B, T, 1]
    valid = time == 1 ? batch_first : transpose(batch_first, 0, 1);
    x = where(valid, x, 0);  // else NaN in the padding reaches the gradients of the weights
  }

  const bool lstm = weights[0].kind == Recurrence::lstm;
  const int64_t width = weights[0].weight_hh.size(1), hidden = hidden_size();
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < options.num_layers; ++layer) {
    std::vector<Tensor> outputs;  // one for each direction
    for (int64_t k = layer * directions(); k < (layer + 1) * directions(); ++k) {
      const bool reverse = k % directions() == 1;
      const RecurrentWeights& w = weights[k];
      const Tensor states = recurrence(w.kind, time_first(linear(x, w.weight_ih, w.bias_ih)),
                                       state.defined() ? select(state, 0, k) : state, w.weight_hh, w.bias_hh,
                                       {.lengths = lengths, .reverse = reverse, .projection = w.weight_hr});
      const Tensor last = select(states, 0, reverse ? 0 : steps - 1);
      outputs.push_back(time_first(lstm ? narrow(states, 2, 0, width) : states));
      last_h.push_back(lstm ? narrow(last, 1, 0, width) : last);
      if (lstm) last_c.push_back(narrow(last, 1, width, hidden));
    }
    x = options.bidirectional ? cat(outputs, 2) : outputs[0];
    if (layer + 1 < options.num_layers) x = F::dropout(x, options.dropout, training());
  }
  if (valid.defined()) x = where(valid, x, 0);
  const auto result = [&](const Tensor& t) { return batched ? t : squeeze(t, 1); };
  return {result(x), result(stack(last_h)), lstm ? result(stack(last_c)) : Tensor()};
}

}  // namespace heed
