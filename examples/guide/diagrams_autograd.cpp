#include "examples/guide/diagrams_autograd.h"

#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"
#include "tensor/create.h"
#include "tensor/table.h"

namespace program::drawing {

void computation_graph(Picture& draw) {
  const heed::Tensor x = heed::tensor(3).requires_grad_(), a = x * x, b = 2 * a, y = a * b;
  const auto gradients = heed::grad(y, {x, a, b});
  const auto number = [](const heed::Tensor& t) { return heed::decimals(t.item(), 0); };
  const std::string dx = number(gradients[0]), da = number(gradients[1]), db = number(gradients[2]);
  const std::string part = number(b), other = number(2 * gradients[2]);  // of da: through y, and through b

  const auto node = [&](const Box& where, const std::string& formula, const heed::Tensor& value) {
    return draw.box(where, "$" + formula + "$\n" + number(value));
  };
  const Box at_x = node({6, 96, 64, 50}, "x", x), at_a = node({112, 96, 64, 50}, "a = x^2", a);
  const Box at_b = node({198, 20, 64, 50}, "b = 2a", b), at_y = node({288, 96, 64, 50}, "y = ab", y);

  // Values go along the upper arrow of each pair, gradients along the lower one.
  draw.arrow({at_x.right(0.3), at_a.left(0.3)});
  draw.arrow({at_a.right(0.3), at_y.left(0.3)});
  draw.arrow({at_a.top(0.3), at_b.left(0.3)});
  draw.arrow({at_b.right(0.3), at_y.top(0.7)});
  const Stroke back = {.color = kAccent, .width = 2};
  draw.arrow({at_y.left(0.7), at_a.right(0.7)}, back);
  draw.arrow({at_y.top(0.3), at_b.bottom(0.8)}, back);
  draw.arrow({at_b.bottom(0.2), at_a.top(0.8)}, back);
  draw.arrow({at_a.left(0.7), at_x.right(0.7)}, back);
  const auto gradient = [&](Point at, const std::string& text) { draw.label(at, text, {.color = kAccent}); };
  gradient({232, 144}, part);
  gradient({262, 94}, db);
  gradient({204, 92}, other);
  gradient({91, 144}, dx);

  gradient({38, 170}, "$∂y / ∂x$\n= " + dx);
  gradient({144, 170}, "$∂y / ∂a$\n= " + part + " + " + other + " = " + da);
  gradient({320, 170}, "$∂y / ∂y$\n= 1");
  gradient({298, 28}, "$∂y / ∂b$\n= " + db);
  draw.arrow({{20, 214}, {56, 214}});
  draw.label({64, 214}, {"values forward", "前向：值"}, {.size = 12, .align = "start"});
  draw.arrow({{232, 214}, {196, 214}}, back);
  draw.label({240, 214}, {"gradients back", "反向：梯度"}, {.color = kAccent, .size = 12, .align = "start"});
}

}  // namespace program::drawing
