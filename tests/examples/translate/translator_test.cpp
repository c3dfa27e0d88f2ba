#include "examples/translate/translator.h"

#include "nn/text/sequence_loss.h"
#include "nn/view/capture.h"
#include "tests/support/expect.h"

using namespace program;

const std::vector<TranslatorOptions> kModels = {{"rnn", "none", 12, 9},
                                                {"attention", "additive", 12, 9},
                                                {"attention", "dot", 12, 9},
                                                {"fed", "additive", 12, 9, 16, 24, 2},
                                                {"transformer", "none", 12, 9}};

// covers: C-003-01 C-100-06
TEST_CASE("translators: decoding step by step equals teacher forcing") {
  for (const TranslatorOptions& options : kModels) {
    INFO(options.model, " ", options.attention);
    manual_seed(3);
    const auto translator = make_translator(options);
    translator->module().eval();
    const NoGrad guard;
    const PaddedBatch source = pad_batch({{4, 5, 6}, {7, 8, 9, 10, 11}});
    const TeacherForcing target = teacher_forcing({{4, 5, 6, 7}, {8, 7, 6, 5}});
    const Tensor together = log_softmax(translator->logits(source, target.input), -1);
    const DecodeStep step = translator->decoder(source);
    Tensor rows = arange(2, int64);
    for (int64_t t = 0; t < 5; ++t) {
      const Tensor next = step(select(target.input, 1, t), rows);
      CHECK(largest_difference(next, select(together, 1, t)) < 1e-5);
    }
    // As in beam search, both rows continue the second.
    const DecodeStep again = translator->decoder(source);
    again(select(target.input, 1, 0), rows);
    const Tensor both = again(full({2}, 8, int64), tensor({1, 1}, int64));
    CHECK(largest_difference(select(both, 0, 0), select(together, 0, 1)[1]) < 1e-5);
  }
}

// covers: C-100-05
TEST_CASE("translators: padding changes neither losses nor gradients") {
  for (const TranslatorOptions& options : kModels) {
    INFO(options.model, " ", options.attention);
    manual_seed(4);
    const auto translator = make_translator(options);
    translator->module().eval();
    const std::vector<Ids> sources = {{4, 5, 6}, {7, 8, 9, 10, 11}}, targets = {{4, 5}, {8, 7, 6, 5}};
    const auto loss_of = [&](int64_t length) {
      const TeacherForcing target = teacher_forcing(targets, length);
      translator->module().zero_grad();
      const Tensor loss = sequence_loss(translator->logits(pad_batch(sources, length), target.input),
                                        target.labels, target.lengths);
      loss.backward();
      Tensors all = {loss};
      for (const Tensor& p : translator->module().parameters())
        if (p.grad().defined()) all.push_back(clone(p.grad()));
      return all;
    };
    const auto tight = loss_of(0), padded = loss_of(55);
    REQUIRE(tight.size() == padded.size());
    CHECK(tight.size() > 8);
    for (size_t i = 0; i < tight.size(); ++i) CHECK(largest_difference(tight[i], padded[i]) < 2e-5);
  }
}

// covers: C-003-04
TEST_CASE("translators: a_ij depends on decoder state i and encoder state j, and affects the logits") {
  manual_seed(5);
  const auto translator = make_translator({"attention", "additive", 12, 9});
  translator->module().eval();
  const auto look = [&](const Ids& source, const Ids& target) {
    AttentionScope scope;
    const Tensor logits = translator->logits(pad_batch({source}), teacher_forcing({target}).input);
    return std::pair(scope.weights(translator->alignment_module()), logits);
  };
  const auto [a, logits] = look({4, 5, 6, 7}, {4, 5, 6});
  REQUIRE(a.size(-1) == 4);  // encoder states
  REQUIRE(a.size(-2) == 4);
  CHECK(largest_difference(sum(a, -1), ones_like(sum(a, -1))) < 1e-6);
  const auto row = [](const Tensor& x, int64_t i) { return select(x, -2, i); };
  const auto [other, other_logits] = look({4, 5, 6, 7}, {8, 5, 6});  // only decoder states 1 to 3 differ
  CHECK(largest_difference(row(a, 0), row(other, 0)) == 0);
  for (const int64_t i : {1, 2, 3}) CHECK(largest_difference(row(a, i), row(other, i)) > 1e-6);
  const auto [third, third_logits] = look({4, 5, 6, 9}, {4, 5, 6});
  for (const int64_t i : {0, 1, 2, 3}) {
    CHECK(largest_difference(row(a, i), row(third, i)) > 1e-6);
    CHECK(largest_difference(row(logits, i), row(third_logits, i)) > 1e-6);
  }
}

// covers: C-003-01
TEST_CASE("translators: only models with attention have an alignment; every parameter has a gradient") {
  for (const TranslatorOptions& options : kModels) {
    INFO(options.model, " ", options.attention);
    const auto translator = make_translator(options);
    CHECK(translator->alignment_module().empty() == (options.model == "rnn"));
    const TeacherForcing target = teacher_forcing({{4, 5}});
    AttentionScope scope;
    const Tensor logits = translator->logits(pad_batch({{4, 5, 6}}), target.input);
    sum(logits * logits).backward();
    if (options.model == "rnn")
      CHECK(scope.calls().empty());  // a single context vector
    else
      CHECK(scope.weights(translator->alignment_module()).size(-1) == 3);
    for (const auto& [name, p] : translator->module().named_parameters()) {
      INFO(name);
      CHECK(p.grad().defined());
    }
  }
}
