#include "nn/onnx/export.h"

#include <filesystem>
#include <set>

#include "nn/attention/position.h"
#include "nn/files/npy.h"
#include "nn/files/text_file.h"
#include "nn/functional.h"
#include "nn/layers/activation.h"
#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/pool.h"
#include "nn/layers/sequential.h"
#include "nn/onnx/import.h"
#include "nn/onnx/model.h"
#include "nn/recurrent/recurrent.h"
#include "nn/transformer/transformer.h"
#include "tests/nn/onnx/table_rows.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// Words to scores of words, as README's translator: embeddings, positions, a transformer, a projection.
struct ExportedTranslator : Layer<ExportedTranslator> {
  Tensor forward(const Tensor& source, const Tensor& target) const {
    const Mask padding(unsqueeze(source != 0, 1));
    const Tensor y = transformer.forward(position(from(source)), position(to(target)), padding,
                                         AttentionOptions{.is_causal = true}, padding);
    return out(y);
  }
  void visit(Visitor& v) override { v("from", from, "to", to, "transformer", transformer, "out", out); }

  Embedding from{20, 16, {.padding_idx = 0}}, to{20, 16};
  SinusoidalPosition position{16};
  Transformer transformer{16, 2, 2, 2, {.dim_feedforward = 32}};
  Linear out{16, 20};
};

// A causal language model with rotary positions, GELU and tied weights.
struct ExportedLanguageModel : Layer<ExportedLanguageModel> {
  Tensor forward(const Tensor& words) const {
    return linear(body.forward(embedding(words), AttentionOptions{.is_causal = true}), embedding.weight);
  }
  void visit(Visitor& v) override {
    v("embedding", embedding, "body", body);
    v("head.weight", embedding.weight);
  }

  Embedding embedding{30, 16};
  TransformerEncoder body{16,
                          2,
                          2,
                          {.dim_feedforward = 32,
                           .activation = Activation::gelu,
                           .norm_first = true,
                           .rotary = true,
                           .final_norm = true}};
};

// Exported models with inputs and results, for check_onnx.py.
struct Exports {
  explicit Exports(std::string to) : folder(std::move(to)) {}

  // Exports a call, and saves inputs and results for x and `other`.
  void add(std::string name, const Module& model, const OnnxTensors& x, const auto& forward,
           const OnnxOptions& options = {}) {
    name = folder + "/" + name;
    save_onnx(name + ".onnx", model, x, forward, options);
    const detail::EvaluationScope evaluation;
    const NoGrad guard;
    for (const OnnxTensors& in : {x, options.other}) {
      if (in.empty()) continue;
      name += "_";
      const auto save = [&](const char* what, const OnnxTensors& all) {
        for (size_t i = 0; i < all.size(); ++i) save_npy(name + what + std::to_string(i) + ".npy", all[i]);
      };
      save("x", in), save("y", forward(in));
    }
  }
  void add_model(const std::string& name, auto&& model, const OnnxTensors& x,
                 const OnnxOptions& options = {}) {
    add(
        name, model, x,
        [&](const OnnxTensors& in) {
          if constexpr (requires { model(in[0], in[1]); })
            if (in.size() == 2) return detail::onnx_outputs(model(in[0], in[1]));
          if constexpr (requires { model(in[0]); })
            return detail::onnx_outputs(model(in[0]));
          else
            return OnnxTensors();
        },
        options);
  }

  std::string folder;
};

void export_models(Exports& all, int64_t opset) {
  manual_seed(1);
  const auto x = [](const Shape& shape) { return randn(shape); };
  const auto words = [](const Shape& shape) { return randint(1, 20, shape); };
  const auto model = [&](const std::string& name, auto&& m, const OnnxTensors& in, const OnnxTensors& other) {
    all.add_model(name + "_" + std::to_string(opset), m, in, {.other = other, .opset = opset});
  };
  model("mlp", Sequential{Linear(5, 8), Tanh(), Linear(8, 3)}, x({2, 5}), x({4, 5}));
  model("mlp_fixed", Sequential{Linear(5, 8), ReLU(), Linear(8, 3)}, x({2, 5}), {});
  BatchNorm2d norm(4);
  norm(x({4, 4, 5, 5}));  // running averages
  model("cnn",
        Sequential{Conv2d(1, 4, 3, {.padding = "same"}), norm, GELU(), MaxPool2d(2),
                   Conv2d(4, 6, 3, {.stride = 2}), ReLU(), AvgPool2d(2),
                   [](const Tensor& t) { return flatten(t, 1); }, Linear(6, 3)},
        x({2, 1, 12, 12}), x({3, 1, 12, 12}));
  model("cnn_padded", Sequential{MaxPool2d(3, {.stride = 2, .padding = 1}), AvgPool2d(2, {.padding = 1})},
        x({2, 3, 9, 7}), x({3, 3, 9, 7}));
  model("rnn", RNN(3, 4, {.nonlinearity = init::Nonlinearity::relu}), x({5, 2, 3}), x({7, 3, 3}));
  model("gru", GRU(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true}), x({2, 5, 3}),
        x({3, 7, 3}));
  model("lstm", LSTM(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true}), x({2, 5, 3}),
        x({3, 7, 3}));
  const GRU gru(3, 4, {.bidirectional = true});
  const LSTM lstm(3, 4, {.bidirectional = true});
  const OnnxOptions open{.other = {x({7, 3, 3}), tensor({1, 7, 4}, int64)}, .opset = opset};
  const auto of = [&](const auto& layer) {
    return [&layer](const OnnxTensors& in) -> OnnxTensors {
      if constexpr (requires { layer(in[0], Tensor(), Tensor(), in[1]); })
        return detail::onnx_outputs(layer(in[0], Tensor(), Tensor(), in[1]));
      else
        return detail::onnx_outputs(layer(in[0], Tensor(), in[1]));
    };
  };
  const OnnxTensors with_lengths{x({5, 2, 3}), tensor({5, 3}, int64)};
  all.add("gru_lengths_" + std::to_string(opset), gru, with_lengths, of(gru), open);
  all.add("lstm_lengths_" + std::to_string(opset), lstm, with_lengths, of(lstm), open);
  const auto causal = [](const TransformerEncoderLayer& layer) {
    return
        [&layer](const OnnxTensors& in) -> OnnxTensors { return layer(in[0], Mask::causal(in[0].size(1))); };
  };
  const TransformerEncoderLayer layer(16, 2, {.dim_feedforward = 32});
  all.add("causal_layer_" + std::to_string(opset), layer, x({2, 5, 16}), causal(layer),
          {.other = x({3, 7, 16}), .opset = opset});
  model("encoder_layer", TransformerEncoderLayer(16, 2, {.dim_feedforward = 32}), x({2, 5, 16}),
        x({3, 7, 16}));
  model("translator", ExportedTranslator(), {words({2, 5}), words({2, 6})}, {words({3, 7}), words({3, 10})});
  model("language_model", ExportedLanguageModel(), words({2, 5}), words({3, 7}));
}

// Parts of the messages of rows that have no form: random numbers, sizes or positions that depend on values,
// and what the operators of ONNX leave out.
const Texts reasons = {"save_onnx: bernoulli at ",
                       "save_onnx: multinomial at ",
                       "save_onnx: nonzero at ",
                       "save_onnx: entmax at ",
                       "save_onnx: entmax in entmax_loss at ",
                       "dropout is random",
                       "has no form in ONNX (cross_entropy label_smoothing)",
                       " in scatter at ",
                       " in masked_select at ",
                       " in repeat_interleave at ",
                       " in index at ",
                       " in nll_loss at ",
                       "ONNX's LSTM gives the cells of the last step only"};

// Exports all rows; returns the messages of those that are refused.
std::map<std::string, std::string> export_rows(Exports& all, int64_t opset) {
  std::map<std::string, std::string> messages;
  const Sequential none;
  int64_t number = 0;
  each_table_row([&](const test::OpCase& row, const OnnxTensors& x, const auto& forward) {
    const std::string name = row.op + ("_" + std::to_string(opset)) + "_" + std::to_string(number++);
    const std::string error = message([&] { all.add(name, none, x, forward, {.opset = opset}); });
    if (!error.empty()) messages[name] = error;
  });
  return messages;
}

}  // namespace

TEST_CASE("onnx: onnxruntime computes what heed does" * doctest::test_suite("slow")) {
  const Folder folder;
  Exports all(folder.path);
  for (const int64_t opset : {20, 23}) {
    export_models(all, opset);
    for (const auto& [name, error] : export_rows(all, opset)) {
      CAPTURE(name);
      CAPTURE(error);
      CHECK(std::ranges::any_of(reasons, [&](const std::string& reason) { return contains(error, reason); }));
    }
  }
  const Run run = run_shell(HEED_SOURCE_DIR "/tests/nn/onnx/check_onnx.sh " HEED_BINARY_DIR "/onnx_venv " +
                            folder.path.string());
  if (run.code == 77) {
    MESSAGE("onnxruntime: skipped, since PyPI is not reached");
    return;
  }
  CAPTURE(run.err);
  CHECK_MESSAGE(run.code == 0, run.out);
  MESSAGE(run.out);
}

TEST_CASE("onnx: an exported model has the names of the state dict, open sizes, and no node without a use") {
  const Folder folder;
  const std::string path = folder / "model.onnx";
  manual_seed(1);
  const Sequential model{Linear(4, 3), ReLU()};
  const auto forward = [&](const OnnxTensors& in) -> OnnxTensors {
    exp(in[0]);  // no result needs it
    return reshape(model(in[0]), {-1, 3, 1});
  };
  save_onnx(path, model, randn({2, 5, 4}), forward,
            {.other = randn({3, 7, 4}),
             .opset = 21,
             .inputs = {"in"},
             .outputs = {"out"},
             .metadata = {{"words", "a\n猫"}}});
  const onnx::Model saved = onnx::decode(read_bytes(path));
  CHECK(saved.metadata_props == std::map<std::string, std::string>{{"words", "a\n猫"}});
  CHECK(saved.opset_import == std::map<std::string, int64_t>{{"", 21}});
  const auto text = [](const onnx::ValueInfo& info) {
    std::string all = info.name;
    for (const onnx::Size& size : *info.shape)
      all += " " + (size.value < 0 ? size.name + "?" : std::to_string(size.value));
    return all;
  };
  CHECK(text(saved.graph.input.at(0)) == "in in_0? in_1? 4");
  CHECK(text(saved.graph.output.at(0)) == "out ? 3 1");
  Texts types, names;
  for (const onnx::Node& node : saved.graph.node) types.push_back(node.op_type);
  for (const onnx::Constant& constant : saved.graph.initializer) names.push_back(constant.name);
  CHECK(types == Texts{"Transpose", "MatMul", "Add", "Relu", "Reshape", "Identity"});
  CHECK(names == Texts{"0.bias", "0.weight", "constant_0"});
  CHECK(largest_difference(saved.graph.initializer[1].values, model.state_dict().at("0.weight")) == 0);
}

TEST_CASE("onnx: positions, shapes and constants follow open sizes") {
  const Folder folder;
  const Sequential none;
  const auto forward = [](const OnnxTensors& in) -> OnnxTensors {
    const Tensor& x = in[0];
    const int64_t T = x.size(1);
    const Tensor positions = to(arange(1, 2 * T + 1, 2, int64), float32), rows = tensor({1, 0}, int64);
    return {narrow(x, 1, 1, T - 2), select(x, 1, T - 1),         slice(x, 1, 0, T, 2),
            slice(x, 1, 1, T, 3),   index_add(x, 0, rows, x),    layer_norm(x, {T}),
            x + positions,          eq(to(x, int64), 2 * T - 1), reshape(cat({x, x}, 1), {2, -1, 1})};
  };
  const Tensor x = counted({2, 5});
  save_onnx(folder / "model.onnx", none, x, forward, {.other = counted({2, 8})});
  const OnnxModel graph = load_onnx(folder / "model.onnx");
  for (const int64_t T : {5, 8, 11}) {
    CAPTURE(T);
    const OnnxTensors expected = forward(counted({2, T}));
    const std::vector<Tensor> found = graph(std::vector<Tensor>{counted({2, T})});
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      REQUIRE(found[i].shape() == expected[i].shape());
      CHECK(allclose(to(found[i], float64), to(expected[i], float64), 1e-6, 1e-6));
    }
  }
}

TEST_CASE("onnx: what would be frozen silently is refused") {
  const Folder folder;
  const Sequential none;
  const Tensor x = counted({2, 5}), longer = counted({3, 7});
  const auto refusal = [&](const std::function<Tensor(const Tensor&)>& f, const OnnxTensors& in,
                           const OnnxOptions& options = {}) {
    return message([&] {
      save_onnx(
          folder / "model.onnx", none, in, [&](const OnnxTensors& all) -> OnnxTensors { return f(all[0]); },
          options);
    });
  };
  const auto refuses = [&](const std::function<Tensor(const Tensor&)>& f, const OnnxTensors& in,
                           const OnnxOptions& options, const std::string& said) {
    const std::string found = refusal(f, in, options);
    CHECK_MESSAGE(contains(found, said), found);
  };
  refuses([](const Tensor& t) { return t * t.to_vector()[1]; }, x, {},
          ": a constant [] has other values for the other inputs");
  refuses([](const Tensor& t) { return t[0].to_vector()[0] > 0 ? exp(t) : log(t); }, x, {},
          ", and for the other inputs exp at ");
  refuses(
      [](const Tensor& t) {
        Tensor y = t;
        for (int64_t i = 0; i < t.size(1); ++i) y = y + 1;
        return y;
      },
      x, {.other = longer}, "the model computes nothing, and for the other inputs add at ");
  refuses([](const Tensor& t) { return t + rand({5}); }, x, {}, "a constant [5] has other values");
  refuses(
      [](const Tensor& t) {
        return index_select(t, 1,
                            argmax(t[0]).to_vector()[0] > 2 ? tensor({0, 3}, int64) : tensor({1, 3}, int64));
      },
      x, {}, "a constant [2] has other values");
  refuses(
      [](const Tensor& t) {
        return reshape(t, {-1, 1}) / t.size(1);
      },
      x, {.other = longer}, "a constant [] has other values");
  refuses([](const Tensor& t) { return narrow(t, 1, 0, t.size(1) * t.size(1) / 8); }, x, {.other = longer},
          "a size is 3, for the other inputs 6, and no operand has it");
  refuses([](const Tensor& t) { return t; }, {x}, {.other = counted({3, 6})},
          "the sizes x_0 and x_1 differ by the same number");
  refuses([](const Tensor& t) { return t; }, {x}, {.other = {x, x}}, "there are 1 inputs, and 2 in `other`");
  refuses([](const Tensor& t) { return t; }, {x}, {.opset = 19}, "opset is 19; it must be 20 to 23");
  refuses([](const Tensor& t) { return t; }, {x}, {.other = to(x, int64)},
          "a value is float32 [2, 5], for the other inputs int64 [2, 5]");
  refuses([](const Tensor& t) { return t; }, {x}, {.other = flatten(x)},
          "a value is float32 [2, 5], for the other inputs float32 [10]");
  CHECK(!std::filesystem::exists(folder / "model.onnx"));
  // These are no constants.
  CHECK(refusal(
            [](const Tensor& t) {
              return t + to(arange(t.size(1), int64), float32) + ones({t.size(0), 1});
            },
            x, {.other = longer}) == "");
  CHECK(refusal([](const Tensor& t) { return eq(to(t, int64), 2 * t.size(1) - 1); }, x, {.other = longer}) ==
        "");
}

TEST_CASE("onnx: a write between two uses makes two values") {
  const Folder folder;
  const Sequential none;
  const Tensor x = counted({3});
  const auto forward = [](const OnnxTensors& in) -> OnnxTensors {
    const Tensor y = in[0] * 2;
    const Tensor before = exp(y);
    unrecorded([&] { add_(y, 1); });
    return {before, exp(y)};
  };
  CHECK_ERROR_HAS(save_onnx(folder / "model.onnx", none, x, forward, {}), "a constant [3] has other values");
}
