#pragma once

#include "autograd/operand.h"

/// In place, under NoGrad: each returns its first operand.
namespace heed {

Tensor copy_(Operand x, Operand source);  // source broadcasts to x
Tensor fill_(Operand x, Number value);
Tensor zero_(Operand x);
Tensor add_(Operand x, Operand other, Number alpha = 1);
Tensor sub_(Operand x, Operand other, Number alpha = 1);
Tensor mul_(Operand x, Operand other);
Tensor div_(Operand x, Operand other);

}  // namespace heed
