#include "examples/shared/onnx_files.h"

#include "nn/layers/linear.h"
#include "tests/support/exported.h"
#include "tests/support/results.h"

using namespace program;
namespace fs = std::filesystem;

TEST_CASE("OnnxFiles: writes all parts of a model, or none") {
  const Folder folder;
  manual_seed(1);
  const Linear model(3, 2);
  const OnnxPart::Function half = [&](const StateDict& in) {
    return StateDict{{"half", model(in.at("x")) / 2}};
  };
  const OnnxPart::Function broken = [](const StateDict& in) {
    return StateDict{{"y", in.at("x") + in.at("x").to_vector()[0]}};
  };
  const auto write = [&](const OnnxPart::Function& second) {
    const StateDict x{{"x", randn({2, 3})}}, other{{"x", randn({5, 3})}};
    return run_export(folder / "m.onnx", [&](const OnnxFiles& files) {
      CHECK(files.asked());
      files.write(model, {{"", x, other, half}, {"second", x, other, second}}, {{"words", "a\nb"}});
    });
  };
  CHECK(contains(write(broken), "program: save_onnx: add at "));
  CHECK(fs::is_empty(folder.path));
  CHECK(write(half) == "");
  CHECK(metadata_of(folder / "m_second.onnx") == std::map<std::string, std::string>{{"words", "a\nb"}});
  const Tensor x = randn({7, 3});
  const OnnxModel graph = load_onnx(folder / "m.onnx");
  CHECK(graph.inputs()[0].name == "x");
  CHECK(largest_difference(graph(StateDict{{"x", x}}).at("half"), model(x) / 2) < 1e-6);
  const std::string before = read_file(folder / "m.onnx");
  CHECK(write(broken) != "");
  CHECK(read_file(folder / "m.onnx") == before);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
  // A place that cannot be written is found before the work.
  fs::remove(folder / "m_second.onnx");
  fs::create_directory(folder / "m_second.onnx");
  CHECK(contains(write(half), "m_second.onnx: cannot be written; is it a file"));
  CHECK(read_file(folder / "m.onnx") == before);
}

TEST_CASE("OnnxFiles: errors of the command export") {
  const Folder folder;
  for (const std::string program : {"translate", "g2p", "language_model"}) {
    CAPTURE(program);
    const auto refused = [&](const std::string& arguments) {
      return refusal_of(program, arguments + " --out " + folder / "out");
    };
    CHECK(contains(refused("export"), "export: name the file for the model by --onnx FILE.onnx"));
    CHECK(contains(refusal_of(program, "export --onnx"), "--onnx needs a value"));
    CHECK(contains(refused("export --onnx ''"), "--onnx is empty; give a file"));
    CHECK(contains(refused("export --onnx a.pt"), "--onnx is a.pt; the name must end in .onnx"));
    CHECK(contains(refused("export x --onnx a.onnx"), "export takes no word; --onnx names the file"));
    CHECK(contains(refused("export --onnx a.onnx"), "there is no model"));
    CHECK(contains(refused("--onnx a.onnx"), "--onnx is for the command export"));
    fs::create_directory(folder / "out");
    folder.write("out/" + program + ".safetensors", "no model");
    CHECK(contains(refused("export --onnx a.onnx"), program + ".safetensors"));
    fs::remove_all(folder / "out");
  }
  CHECK(contains(refusal_of("translate", "export --onnx a.onnx --text 我"), "--text is not for export"));
  CHECK(
      contains(refusal_of("translate", "export --onnx a.onnx --steps 2"), "--steps is for training; export"));
  CHECK(contains(refusal_of("translate", "import"),
                 "there is no command import; there is export, and options begin with --, see --help"));
  CHECK(contains(refusal_of("g2p", "export --onnx a.onnx --ensemble a,b"), "--ensemble is for convert"));
  CHECK(contains(refusal_of("language_model", "export --onnx a.onnx --top-k 2"), "--top-k is for writing"));
}

TEST_CASE("docs/onnx_in_python.md: the programs print what those of heed do" * doctest::test_suite("slow")) {
  const Folder folder;
  std::string words, text;
  for (const std::string a : {"AT", "TEN", "ION", "TIN", "NOT"})
    for (const std::string b : {"EN", "ANT", "ION", "O", "ATE"}) {
      words += a + b + "\t" + a[0];
      for (const char c : b) words += std::string(" ") + c;
      words += "\n";
      text += "// softmax(" + a + ",   " + b +
              ")  of 猫 ------------------------------------------------------------------\n";
    }
  const std::string stem = " --onnx " + folder.path.string() + "/";
  const auto run = [&](const std::string& program, const std::string& train, const std::string& ask) {
    const std::string out = " --out " + folder / program;
    const Run trained = run_program(program, train + out + " --threads 1");
    REQUIRE_MESSAGE(trained.code == 0, trained.err);
    const Run exported = run_program(program, "export" + out + stem + program + ".onnx");
    REQUIRE_MESSAGE(exported.code == 0, exported.err);
    const Run asked = run_program(program, ask + out);
    CHECK_MESSAGE(asked.code == 0, asked.err);
    return asked.out;
  };
  const std::string sentence =
      run("translate", "--model transformer --steps 60 --batch 16", "--text 我爱中国");
  const std::string phones = run("g2p",
                                 "train --train " + folder.write("words.tsv", words) +
                                     " --width 32 --layers 2 --epochs 40 --batch 8 --lr 0.01",
                                 "convert ATTENTION --beams 1");
  const std::string written =
      run("language_model",
          "train --text " + folder.write("text.txt", text) + " --vocabulary 300 --width 32 --steps 30",
          "write --prompt '// softmax' --length 60 --temperature 0");
  const Run python = run_shell(HEED_SOURCE_DIR "/tests/nn/onnx/check_onnx.sh " HEED_BINARY_DIR "/onnx_venv " +
                               folder.path.string() + " " HEED_SOURCE_DIR "/docs/onnx_in_python.md");
  if (python.code == 77) {
    MESSAGE("docs/onnx_in_python.md: skipped, since PyPI is not reached");
    return;
  }
  REQUIRE_MESSAGE(python.code == 0, python.err);
  CHECK(sentence.starts_with(read_file(folder / "translate.py.out")));
  CHECK("ATTENTION\t" + read_file(folder / "g2p.py.out") == phones);
  CHECK(written.starts_with(read_file(folder / "language_model.py.out")));
}
