#include "nn/training/metrics.h"

#include "tests/support/expect.h"

TEST_CASE("accuracy: of scores and of classes, without ignored targets") {
  const Tensor target = tensor({2, 0, 1, -100}, int64);
  const Tensor scores = tensor({{0, 1, 2}, {3, 1, 0}, {5, 4, 0}, {1, 0, 0}});
  CHECK(accuracy(scores, target) == doctest::Approx(2 / 3.));
  CHECK(accuracy(argmax(scores, -1), target) == doctest::Approx(2 / 3.));
  CHECK(accuracy(scores, tensor({2, 0, 1, 0}, int64)) == 0.75);
  CHECK(accuracy(reshape(scores, {2, 2, 3}), reshape(target, {2, 2})) == doctest::Approx(2 / 3.));
  CHECK(accuracy(tensor({1, 1}, int64), tensor({1, 3}, int64), 3) == 1);
  CHECK(accuracy(zeros({0, 3}), zeros({0}, int64)) == 0);
  CHECK(accuracy(tensor({1, 5}), tensor(1, int64)) == 1);  // one row
  CHECK_ERROR(
      accuracy(scores, zeros({3}, int64)),
      "accuracy: the prediction is float32 [4, 3], the target int64 [3]; for an int64 target [...] give "
      "scores [..., C] or int64 classes [...]");
  CHECK_ERROR_HAS(accuracy(scores, scores), "the target float32");
  const std::string line = place(__LINE__ + 1);
  CHECK(contains(whole_message([&] { accuracy(scores, scores); }), "called at " + line));
}

TEST_CASE("confusion_matrix: rows are targets, columns predictions") {
  const Tensor predicted = tensor({0, 2, 2, 1, 2}, int64), target = tensor({0, 1, 2, 1, -100}, int64);
  const Tensor y = confusion_matrix(predicted, target);
  CHECK(y.dtype() == int64);
  CHECK(y.shape() == Shape{3, 3});
  CHECK(values(y) == Values{1, 0, 0, 0, 1, 1, 0, 0, 1});
  CHECK(confusion_matrix(predicted, target, 5).shape() == Shape{5, 5});
  CHECK(confusion_matrix(zeros({1, 4}), zeros({1}, int64)).shape() == Shape{4, 4});
  CHECK(confusion_matrix(zeros({0}, int64), zeros({0}, int64)).shape() == Shape{0, 0});
  CHECK_ERROR(confusion_matrix(predicted, target, 2),
              "confusion_matrix: the classes are from 0 to 2; with num_classes = 2 they are 0 to 1");
  CHECK_ERROR_HAS(confusion_matrix(predicted, tensor({0, 0, 0, 0, -1}, int64)),
                  "from -1 to 2; with num_classes = 3");
}
