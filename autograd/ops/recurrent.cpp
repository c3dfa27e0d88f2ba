#include "autograd/ops/recurrent.h"

#include "autograd/node.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/recurrent.h"

namespace heed {
namespace {

// One step in public operations: the next state [B, S] from x [B, G H], the input's part of the gates, and
// the state [B, S]. The state's part of the gates is a = W h + b.
Tensor step(Recurrence kind, const Tensor& x, const Tensor& state, const Tensor& weight, const Tensor& bias,
            const Tensor& projection) {
  const int64_t width = weight.size(1);  // of h
  const Tensor h = kind == Recurrence::lstm ? narrow(state, 1, 0, width) : state;
  const Tensor a = linear(h, weight, bias);
  if (kind == Recurrence::rnn_tanh) return tanh(x + a);
  if (kind == Recurrence::rnn_relu) return relu(x + a);
  if (kind == Recurrence::gru) {
    const std::vector<Tensor> from_x = chunk(x, 3, 1), from_h = chunk(a, 3, 1);
    const Tensor r = sigmoid(from_x[0] + from_h[0]), z = sigmoid(from_x[1] + from_h[1]);
    const Tensor n = tanh(from_x[2] + r * from_h[2]);
    return (1 - z) * n + z * h;
  }
  const std::vector<Tensor> gates = chunk(x + a, 4, 1);  // of an lstm
  const Tensor i = sigmoid(gates[0]), f = sigmoid(gates[1]), g = tanh(gates[2]), o = sigmoid(gates[3]);
  const Tensor c = f * narrow(state, 1, width, g.size(1)) + i * g;
  const Tensor out = o * tanh(c);
  return cat({projection.defined() ? linear(out, projection) : out, c}, 1);
}

// All steps in public operations. A sequence keeps its state after its last step.
Tensor run_steps(Recurrence kind, const Tensor& x, Tensor state, const Tensor& weight, const Tensor& bias,
                 const Tensor& lengths, const RecurrenceOptions& options) {
  const int64_t count = x.size(0);
  std::vector<Tensor> states(static_cast<size_t>(count));
  for (int64_t done = 0; done < count; ++done) {
    const int64_t t = options.reverse ? count - 1 - done : done;
    Tensor next = step(kind, select(x, 0, t), state, weight, bias, options.projection);
    if (lengths.defined()) next = where(unsqueeze(lengths > t, 1), next, state);
    state = states[static_cast<size_t>(t)] = next;
  }
  return stack(states);
}

}  // namespace

// The formulas are in tensor/recurrence.h; their gradients are derived in tensor/kernels/recurrent.cpp.
Tensor recurrence(Recurrence kind, Operand x, Operand state, Operand weight, Operand bias,
                  const RecurrenceOptions& options) {
  const OpScope scope("recurrence", x.line());
  check_floating(x);
  check(x->dim() == 3 && x->size(0) > 0, "x is ", x->shape(),
        "; it must be [T, B, gates], with at least one step");
  const int64_t batch = x->size(1), gates = x->size(2), hidden = gates / gate_count(kind);
  const bool projects = options.projection.defined();
  check(!projects || kind == Recurrence::lstm, "only an lstm has a projection");
  const int64_t width = projects && options.projection.dim() == 2 ? options.projection.size(0) : hidden;

  const Shape state_shape{batch, kind == Recurrence::lstm ? width + hidden : hidden};
  check(gates == hidden * gate_count(kind), "x is ", x->shape(), "; its last size must be ", gate_count(kind),
        " times the hidden size");
  check_parameter("the weight", weight, {gates, width}, x);
  check_parameter("the bias", bias, {gates}, x);
  check_parameter("the state", state, state_shape, x);
  check_parameter("the projection", options.projection, {width, hidden}, x);
  if (options.lengths.defined()) {
    check_indices(options.lengths);
    check(options.lengths.shape() == Shape{batch}, "lengths are ", options.lengths.shape(), ", x is ",
          x->shape(), "; there must be one for each sequence, [", batch, "]");
  }

  const ReferenceFunction reference = [kind, options, lengths = save(options.lengths),
                                       state_shape](const std::vector<Tensor>& in) {
    const Tensor start = in[1].defined() ? in[1] : zeros(state_shape, in[0].dtype());
    return run_steps(kind, in[0], start, in[2], in[3], lengths(), options);
  };
  if (reference_mode() || projects) return reference({x, state, weight, bias});

  const bool needs_gates = grad_enabled() && (x.requires_grad() || state.requires_grad() ||
                                              weight.requires_grad() || bias.requires_grad());
  constexpr const char* names[] = {"rnn_tanh", "rnn_relu", "gru", "lstm"};
  const kernel::RecurrentResult forward = kernel::recurrent_forward({kind, options.reverse, options.lengths},
                                                                    x, state, weight, bias, needs_gates);
  return record("recurrence", forward.y, {x, state, weight, bias},
                [kind, reverse = options.reverse, gates = forward.gates, state = save(state),
                 weight = save(weight), lengths = save(options.lengths)](const Tensor& g, const Tensor& y) {
                  kernel::RecurrentGradients d = kernel::recurrent_backward({kind, reverse, lengths()}, g,
                                                                            state(), weight(), {y, gates});
                  return Gradients{d.x, d.state, d.weight, d.bias};
                },
                reference, nullptr,
                {{"kind", names[static_cast<int>(kind)]},
                 {"hidden_size", hidden},
                 {"lengths", options.lengths},
                 {"direction", options.reverse ? "reverse" : "forward"}},
                {"from the last step to the first, by the formulas of the cell: "});
}

}  // namespace heed
