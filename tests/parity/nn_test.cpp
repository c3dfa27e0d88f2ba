// Runs every case of nn.json: modules, losses, attention, optimizers, training.

#include <filesystem>

#include "tests/parity/expression.h"
#include "tests/support/expect.h"

using namespace heed::parity;

// covers: C-000-14 C-100-04
TEST_CASE("modules, losses, optimisers and training agree with the reference cases") {
  const Cases cases("nn.json");
  CHECK(cases.size() > 0);
  for (const std::string& finding : nn_findings(cases)) FAIL_CHECK(finding);

  std::set<std::string> used;
  for (const Json& one : cases) used.insert(one.value("state_dict_file", ""));
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/statedicts"))
    CHECK_MESSAGE(used.contains("statedicts/" + entry.path().filename().string()), entry.path());
}

TEST_CASE("modules: unknown fields of a reference case are errors") {
  const Json linear =
      Json::parse(R"({"id": "case", "group": "Linear", "op": "Linear", "dtype": "F64", "tags": [],
      "config": {"in_features": 2, "out_features": 1, "bias": false}, "call": {}, "params": {"weight": "w"},
      "inputs": {"input": "x"}, "outputs": [{"name": "output", "tensor": "y"}], "param_grads": {},
      "input_grads": {}, "tol": {"rtol": 0, "atol": 0}})");
  const Json encoder = Json::parse(R"({"id": "case", "group": "Transformer", "op": "TransformerEncoderLayer",
      "config": {"d_model": 2, "nhead": 1, "dim_feedforward": 2}, "inputs": {"src": "x"}, "params": null})");
  const Json sgd = Json::parse(R"({"id": "case", "group": "Optim", "op": "SGD", "dtype": "F64", "tags": [],
      "kind": "explicit_gradients", "steps": 1, "config": {"lr": 0.5}, "initial": {"weight": "w"},
      "gradients": {"weight": "g"}, "after_step": {"weight": "half"}, "lr": "rate", "tol": {"rtol": 0, "atol": 0}})");
  const StateDict tensors = {{"x", full({1, 2}, 1, float64)},       {"y", full({1, 1}, 4, float64)},
                             {"w", full({1, 2}, 2, float64)},       {"g", full({1, 1, 2}, 2, float64)},
                             {"half", full({1, 1, 2}, 1, float64)}, {"rate", full({1, 1}, 0.5, float64)}};
  const auto wrong = [&](Json one, const char* patch) {
    one.merge_patch(Json::parse(patch));
    const auto found = nn_findings({{{"cases", {one}}}, tensors});
    return found.empty() ? "" : found.at(0);
  };
  const auto patched = [&](const char* patch) { return wrong(linear, patch); };
  CHECK(patched("{}") == "");
  CHECK(patched(R"({"group": "Linea"})") == "case: group Linea is not known");
  CHECK(patched(R"({"op": "Linea"})") == "case: op Linea is not known");
  CHECK(patched(R"({"config": {"device": "cpu"}})") == "case: configuration key device is not known");
  CHECK(patched(R"({"config": {"add_zero_attn": false}})") ==
        "case: configuration key add_zero_attn is not known");
  CHECK(patched(R"({"config": {"add_zero_attn": true}})") == "");  // not offered, skipped
  CHECK(patched(R"({"call": {"fast": true}})") == "case: call argument fast is not known");
  CHECK(patched(R"({"tags": ["sparse"]})") == "case: tag sparse is not known");
  CHECK(patched(R"({"dtype": "BF16"})") == "case: dtype BF16 is not known");
  CHECK(patched(R"({"inputs": {"mask": "x"}})") == "case: input mask is not known");
  CHECK(patched(R"({"buffers": {}})") == "case: field buffers is not known");
  CHECK(patched(R"({"param_grads": {"bias": "x"}})") ==
        "case: a gradient for bias, which is not a parameter");
  CHECK(contains(patched(R"({"param_grads": {"weight": "w"}})"), "gradient of weight is undefined"));
  CHECK(patched(R"({"outputs": []})") == "case: 1 outputs instead of 0");
  CHECK(patched(R"({"op": "mse_loss"})") == "case: parameters without a module");

  Json transformer = linear;
  transformer.merge_patch(encoder);
  CHECK(wrong(transformer, R"({"config": {"activation": "silu"}})") ==
        "case: configuration key activation: the value silu is not known");
  CHECK(wrong(sgd, "{}") == "");
  CHECK(contains(wrong(sgd, R"({"after_step": {"weight": "g"}})"), "step 0: weight 2 of 2 differ"));
  CHECK(wrong(sgd, R"({"config": {"fused": true}})") == "case: optimizer key fused is not known");
  CHECK(wrong(sgd, R"({"scheduler": {"name": "CyclicLR", "config": {}}})") ==
        "case: scheduler CyclicLR is not known");
  CHECK(wrong(sgd, R"({"scheduler": {"name": "StepLR", "config": {"step_size": 1, "verbose": 1}}})") ==
        "case: scheduler key verbose is not known");
  CHECK(wrong(sgd, R"({"param_groups": [{"params": ["bias"]}]})") == "case: there is no parameter bias");
  CHECK(wrong(sgd, R"({"kind": "closure"})") == "case: kind \"closure\" is not known");
}

TEST_CASE("models as text: layers by name, and Python expressions") {
  Program program(
      "src=Embedding(5,4,padding_idx=0), enc=LSTM(4,3,batch_first=True), tgt=Embedding(6,4), "
      "dec=LSTM(4,3,batch_first=True), fc=Sequential(LayerNorm(3), Linear(3,6)); _, state = enc(src(x)); "
      "out, end = dec(tgt(y[:, :-1]), state); logits = fc(out); "
      "loss = F.cross_entropy(logits.reshape(-1, 6), y[:, 1:].flatten(), ignore_index=5)");
  CHECK(program.parameter_count() == 5 * 4 + 6 * 4 + 2 * (12 * 7 + 24) + 6 + 24);
  CHECK(program.state_dict().contains("fc.1.weight"));
  const Tensor x = tensor({{1, 2, 3}}, int64), y = tensor({{1, 5, 2}}, int64);
  CHECK(program.forward({{"x", x}, {"y", y}}).item() == doctest::Approx(std::log(6.0)).epsilon(0.5));

  const Names names = {{"m", {.tensor = tensor({{1, 2}, {3, 4}})}}};
  const auto value = [&](const char* text) { return values(evaluate(text, names).tensor); };
  CHECK(value("m[..., last].unsqueeze(0).squeeze(dim=0)") == Values{2, 4});
  CHECK(value("m.permute((1, 0)).mean(dim=1)") == Values{2, 3});
  CHECK(value("m[1:].transpose(0, 1).view(2)") == Values{3, 4});
  CHECK_ERROR(evaluate("median(m)", names), "median in median(m) is not known");
  CHECK_ERROR(evaluate("m.median()", names), ".median() in m.median() is not known");
  CHECK_ERROR(evaluate("m.grad", names), ".grad in m.grad is not known");
  CHECK_ERROR(evaluate("n", names), "n in n is not known");
  CHECK_ERROR(evaluate("m+m", names), "cannot read +m in m+m");
  CHECK_ERROR(evaluate("m(m)", names), " is called with 1 tensors");
  CHECK_ERROR(evaluate("Linear(2, 3, bias=False, device=1)", names),
              "argument of Linear device is not known");
  CHECK_ERROR(evaluate("Linear(2, 3, 4, 5)", names), "Linear is made with 4 arguments");
}
