#include <sstream>

#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "tests/nn/modules.h"

using test::Model;

TEST_CASE("a module prints as the tree of its types, paths and shapes") {
  CHECK(Model().type_name() == "Model");
  std::ostringstream out;
  out << Sequential{Linear(4, 3), Dropout()} << "\n" << Model();
  CHECK(out.str() ==
        "Sequential(\n"
        "  (0): Linear(weight [3, 4], bias [3])\n"
        "  (1): Dropout()\n"
        ")\n"
        "Model(\n"
        "  shifter.shift [], tied [2]\n"
        "  (layers.0): Scale(weight [2])\n"
        "  (layers.1): Scale(weight [2])\n"
        "  (counter): Counter(calls [], scratch [3])\n"
        ")");
}
