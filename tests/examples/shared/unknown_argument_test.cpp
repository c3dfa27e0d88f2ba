#include "examples/shared/unknown_argument.h"

#include "tests/support/expect.h"

using program::unknown_argument;

TEST_CASE("unknown_argument: suggests the nearest option") {
  const Texts options = {"--help", "--model", "--mode", "--steps"};
  for (const auto& [argument, said] : std::vector<std::pair<std::string, std::string>>{
           {"--modell", "there is no option --modell; did you mean --model?"},
           {"-model", "there is no option -model; did you mean --model?"},
           {"--step=5", "there is no option --step; did you mean --steps?"},
           {"--stsep", "there is no option --stsep; did you mean --steps?"},
           {"--width", "there is no option --width; --help lists all"},
           {"-x", "there is no option -x; --help lists all"},
           {"model", "model is no option; options begin with --, and --help lists them"},
       })
    CHECK(unknown_argument({argument}, options) == said);
  CHECK(unknown_argument({"rnn", "--modell"}, options) ==
        "there is no option --modell; did you mean --model?");
  CHECK(unknown_argument({"--modell"}, {}) == "there is no option --modell; --help lists all");
}
