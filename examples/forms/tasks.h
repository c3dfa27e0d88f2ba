#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

/// The small tasks that all forms are trained on.
namespace program {

constexpr int64_t kNotAsked = -100;  ///< the target of positions without a question

/// Sequences and answers, each int64 [B, T].
struct TaskBatch {
  heed::Tensor ids, targets;
};

/// A task: a sequence of symbols, with questions at some positions. The answer is the class of a symbol, or,
/// if `points`, the position of one.
struct Task {
  std::string name, sentence;
  int64_t symbols, classes;  ///< numbers of different inputs and answers
  int64_t size, longer;      ///< in training; and for the test of longer sequences, 0 without one
  int64_t layers;            ///< that it needs
  bool points = false;       ///< `classes` is then not used
  double solved = 0.95;      ///< accuracy from which on the task counts as solved
  std::function<TaskBatch(int64_t batch, int64_t size, bool test)> draw;
  std::function<std::string(int64_t id)> word;  ///< how a symbol is printed
};

/// All tasks. Batches are drawn by the thread's default generator.
const std::vector<Task>& all_tasks();

/// The task of this name. Throws for another name, and lists those that there are.
const Task& find_task(const std::string& name);

}  // namespace program
