#include "examples/shared/model_file.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

TEST_CASE("ModelFile: reads a saved model; errors name the program that trains a new one") {
  const Folder folder;
  const std::string path = folder / "model.safetensors";
  save_safetensors(path, {{"w", ones({2})}}, {{"kind", "gru"}, {"width", "384"}, {"odd", "3.5"}});
  const ModelFile file(path, "g2p train");
  CHECK(file.text("kind") == "gru");
  CHECK(file.number("width", 1, 4096) == 384);
  CHECK(file.tensors().at("w").numel() == 2);
  CHECK(file.made([] { return 3; }) == 3);
  CHECK(message([&] { file.text("layers"); }) ==
        path +
            ": has no \"layers\" in its metadata; it was written by another "
            "program or version; g2p train trains a new model");
  CHECK(message([&] { file.number("odd", 1, 9); }) ==
        path + ": is damaged: odd is \"3.5\"; it must be from 1 to 9; g2p train trains a new model");
  CHECK_ERROR_HAS(file.number("width", 1, 100), "it must be from 1 to 100;");
  CHECK(message([&] { file.made([] { fail("w is missing"); }); }) ==
        path + ": is damaged: w is missing; g2p train trains a new model");
  file.expect_weights(2);
  CHECK(message([&] { file.expect_weights(3); }) ==
        "it has 2 weights; a model of its stated size has at least 3");
  CHECK_ERROR_HAS(ModelFile(folder.write("text", "no model"), "g2p train"), "; g2p train trains a new model");
  CHECK_ERROR_HAS(ModelFile(folder / "none", "g2p train"), "none");
}
