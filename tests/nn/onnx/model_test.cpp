#include "nn/onnx/model.h"

#include "nn/onnx/wire.h"
#include "tests/support/expect.h"

using onnx::ElementType;

namespace {

// A model with one initializer: a TensorProto that these fields write.
std::string model_with_tensor(const auto& write) {
  onnx::wire::Writer model;
  model(7, [&](auto& graph) {
    graph(5, [&](auto& tensor) {
      write(tensor);
      tensor(8, std::string("w"));
    });
  });
  return model.bytes;
}
onnx::Constant decoded_tensor(const auto& write) {
  return onnx::decode(model_with_tensor(write)).graph.initializer.at(0);
}
using Numbers = std::vector<int64_t>;

}  // namespace

TEST_CASE("onnx: decode reads what encode wrote") {
  onnx::Model model{.ir_version = 11, .producer_name = "heed", .producer_version = "1"};
  model.opset_import = {{"", 23}, {"ai.onnx.ml", 3}};
  model.metadata_props = {{"task", "test"}};
  onnx::Graph body{.name = "body"};
  body.node = {{.input = {"a"}, .output = {"b"}, .op_type = "Neg"}};
  onnx::Node node{.input = {"x", "", "w"}, .output = {"y"}, .name = "n", .op_type = "Mix", .domain = "own"};
  node.attribute = {
      {.name = "alpha", .type = onnx::AttributeType::f, .f = 0},
      {.name = "k", .type = onnx::AttributeType::i, .i = -3},
      {.name = "mode", .type = onnx::AttributeType::s, .s = "fast"},
      {.name = "value", .type = onnx::AttributeType::t, .t = {.values = tensor({1, 2}, int64)}},
      {.name = "body", .type = onnx::AttributeType::g, .g = std::make_shared<onnx::Graph>(body)},
      {.name = "scales", .type = onnx::AttributeType::floats, .floats = {0.5F, 2}},
      {.name = "pads", .type = onnx::AttributeType::ints, .ints = {0, -1}},
      {.name = "names", .type = onnx::AttributeType::strings, .strings = {"", "b"}}};
  model.graph.name = "main";
  model.graph.node = {node};
  model.graph.initializer = {{.name = "w", .values = transpose(counted({2, 3}))}};
  model.graph.input = {{"x", ElementType::float32, onnx::SymbolicShape{{{.name = "batch"}, {3}, {}}}},
                       {"s", ElementType::int64, onnx::SymbolicShape()},
                       {"u", ElementType::boolean}};
  model.functions = {{.name = "Mix", .domain = "own", .input = {"x"}, .output = {"y"}, .node = {node}}};

  const std::string bytes = onnx::encode(model);
  const onnx::Model read = onnx::decode(bytes);
  CHECK(onnx::encode(read) == bytes);
  CHECK(read.opset_import == model.opset_import);
  CHECK(read.metadata_props == model.metadata_props);
  const onnx::Node& got = read.graph.node.at(0);
  CHECK(got.input == node.input);
  CHECK(got.attribute.at(0).type == onnx::AttributeType::f);
  CHECK(got.attribute.at(4).g->node.at(0).op_type == "Neg");
  CHECK(got.attribute.at(5).floats == node.attribute[5].floats);
  CHECK(got.attribute.at(7).strings == node.attribute[7].strings);
  CHECK(values(got.attribute.at(3).t.values) == Values{1, 2});
  CHECK(read.graph.initializer.at(0).type == ElementType::float32);
  CHECK(values(read.graph.initializer.at(0).values) == Values{0, 3, 1, 4, 2, 5});
  const auto& shape = *read.graph.input.at(0).shape;
  REQUIRE(shape.size() == 3);
  CHECK(shape[0].name == "batch");
  CHECK(shape[1].value == 3);
  CHECK(shape[2].value == -1);
  CHECK(read.graph.input.at(1).shape.value().empty());
  CHECK(!read.graph.input.at(2).shape);
  CHECK(read.functions.at(0).node.size() == 1);
}

TEST_CASE("onnx: every type of element that heed can hold is decoded, raw and from lists") {
  const auto check_values = [](ElementType type, int field, const Numbers& stored, const std::string& raw,
                               DType dtype, const Values& expected) {
    CAPTURE(static_cast<int>(type));
    for (const bool is_raw : {false, true}) {
      const onnx::Constant x = decoded_tensor([&](auto& f) {
        f(1, Numbers{static_cast<int64_t>(expected.size())}), f(2, type);
        if (is_raw)
          f(9, raw);
        else
          f(static_cast<uint64_t>(field), stored);
      });
      CHECK(x.type == type);
      CHECK(onnx::dtype_of_element(type) == dtype);
      REQUIRE(x.values.dtype() == dtype);
      CHECK(values(x.values) == expected);
    }
  };
  const std::string one("\1\0\0\0\0\0\0\0", 8), minus(8, '\xFF');
  check_values(ElementType::int64, 7, {1, -1}, one + minus, int64, {1, -1});
  check_values(ElementType::int32, 5, {1, -1}, one.substr(0, 4) + minus.substr(0, 4), int64, {1, -1});
  check_values(ElementType::int16, 5, {1, -1}, one.substr(0, 2) + minus.substr(0, 2), int64, {1, -1});
  check_values(ElementType::int8, 5, {1, -1}, one.substr(0, 1) + minus.substr(0, 1), int64, {1, -1});
  check_values(ElementType::uint8, 5, {1, 255}, one.substr(0, 1) + minus.substr(0, 1), int64, {1, 255});
  check_values(ElementType::uint16, 5, {1, 65535}, one.substr(0, 2) + minus.substr(0, 2), int64, {1, 65535});
  check_values(ElementType::uint32, 11, {1, 4294967295}, one.substr(0, 4) + minus.substr(0, 4), int64,
               {1, 4294967295});
  check_values(ElementType::boolean, 5, {1, 0}, std::string("\1\0", 2), boolean, {1, 0});
  check_values(ElementType::float16, 5, {0x3C00, 0xC100}, std::string("\0\x3C\0\xC1", 4), float32, {1, -2.5});
  check_values(ElementType::bfloat16, 5, {0x3F80, 0xC020}, std::string("\x80\x3F\x20\xC0", 4), float32,
               {1, -2.5});
  const onnx::Constant single = decoded_tensor([](auto& f) {
    f(1, Numbers{1, 2}), f(2, ElementType::float32), f(4, std::vector<float>{1, -2.5F});
  });
  CHECK(single.values.shape() == Shape{1, 2});
  CHECK(values(single.values) == Values{1, -2.5});
  const onnx::Constant real = decoded_tensor([](auto& f) {
    f(1, Numbers{2}), f(2, ElementType::float64), f(10, std::vector<double>{1, 1e300});
  });
  CHECK(values(real.values) == Values{1, 1e300});
  const onnx::Constant text = decoded_tensor([](auto& f) { f(1, Numbers{1}), f(2, ElementType::string); });
  CHECK(text.type == ElementType::string);
  CHECK(!text.values.defined());
}

TEST_CASE("onnx: tensors that break a rule throw") {
  const auto wrong = [](const std::string& said, const auto& write) {
    CHECK_ERROR_HAS(onnx::decode(model_with_tensor(write), "load_onnx: model.onnx"), said);
  };
  const auto shaped = [](const Numbers& dims, const std::string& raw,
                         ElementType type = ElementType::float32) {
    return [=](auto& f) { f(1, dims), f(2, type), f(9, raw); };
  };
  wrong("load_onnx: model.onnx: byte 4: tensor \"w\" has the shape [2] and 1 values", shaped({2}, "abcd"));
  wrong("has the shape [-1]", shaped({-1}, ""));
  wrong("has the shape [4611686018427387904, 4]", shaped({int64_t{1} << 62, 4}, ""));
  wrong("has 9 dimensions; at most 8", shaped({1, 1, 1, 1, 1, 1, 1, 1, 1}, "abcd"));
  wrong("has a bool that is neither 0 nor 1", shaped({1}, "\2", ElementType::boolean));
  wrong("tensor \"w\" is in another file; save the model with its data inside",
        [](auto& f) { f(1, Numbers{1}), f(2, ElementType::float32), f(14, int64_t{1}); });
  wrong("has the shape [1] and 2 values", [](auto& f) {
    f(1, Numbers{1}), f(2, ElementType::float32), f(4, std::vector<float>{1}), f(9, std::string("abcd"));
  });
  CHECK_ERROR_HAS(onnx::encode({.graph = {.initializer = {{.name = "w"}}}}),
                  "the constant \"w\" has no values");
}

TEST_CASE("onnx: arbitrary bytes give a model or an Error") {
  onnx::Model model{.ir_version = 10, .opset_import = {{"", 20}}};
  model.graph.node = {{.input = {"x"}, .output = {"y"}, .op_type = "Relu", .attribute = {{.name = "a"}}}};
  model.graph.initializer = {{.name = "w", .values = counted({2, 3})}};
  model.graph.input = {{"x", ElementType::float32, onnx::SymbolicShape{{{2}}}}};
  const std::string bytes = onnx::encode(model);
  Generator generator(1);
  int64_t errors = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string changed = bytes;
    const Tensor where = randint(0, std::ssize(bytes), {3}, &generator),
                 what = randint(0, 256, {3}, &generator);
    for (int i = 0; i < 3; ++i)
      changed[static_cast<size_t>(where[i].item<int64_t>())] = static_cast<char>(what[i].item<int64_t>());
    errors += message([&] { onnx::decode(changed); }).empty() ? 0 : 1;
  }
  CHECK(errors > 1000);
  CHECK(errors < 3000);
}
