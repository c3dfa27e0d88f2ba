#include "nn/distributed/processes.h"

#include "nn/distributed/reduction.h"
#include "nn/files/file.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

// Calls f(leaf, g) when the gradient of a leaf is complete. Its hooks have not run yet.
struct GradientObserver : Observer {
  void on_leaf_gradient(Node& leaf, const Tensor& g) override { f(leaf, g); }
  std::function<void(Node&, const Tensor&)> f;
};

Processes::Processes(const ProcessesOptions& options)
    : messages_(options.silence, options.deadline), shards_(options.shards == 0 ? size() : options.shards) {
  check(options.silence > 0 && options.deadline > 0, "Processes: silence and deadline must be above 0");
  check(shards_ >= size(), "Processes: ", shards_, " shards for ", size(), " processes are too few");
}

Processes::Rows Processes::part(int64_t rows) const {
  const auto start_of = [&](int64_t process) { return rows * (shards_ * process / size()) / shards_; };
  return {start_of(rank()), start_of(rank() + 1)};
}

void Processes::broadcast(detail::Bytes bytes) {
  const auto messages = [&](int from, int) { return std::vector<detail::Bytes>(from == 0 ? 1 : 0, bytes); };
  messages_.wait(messages_.start(2, messages));
}

std::string Processes::broadcast(std::string text) {
  text.resize(messages_.gather(text.size())[0]);
  broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

void Processes::check_same(const std::vector<Tensor>& parameters) {
  uint64_t hash = default_generator().bits(default_generator().position());
  for (const Tensor& p : parameters) hash = 1099511628211U * hash + std::hash<std::string>()(raw_bytes(p));
  const std::vector<uint64_t> all = messages_.gather(hash);
  std::string others;
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] != all[0]) others += messages_.name(static_cast<int>(i)) + ", ";
  check(others.empty(), "Processes: the parameters or random numbers of ", others, "and of ",
        messages_.name(0), " have different bits; do their machines have the same kind of processor?");
}

void Processes::share(Module& model) {
  for (const auto& all : {model.named_parameters(), model.named_buffers()})
    for (const auto& [name, x] : all) broadcast(detail::memory_of(x));
}

double Processes::backward(const Tensor& loss, const std::vector<Tensor>& parameters, int64_t weight) {
  check(shards_ == size(), "Processes: backward: give a function; there are more shards than processes");
  const auto given = [&](int64_t, int64_t) { return ShardLoss{loss, weight}; };
  return backward(weight > 0 ? shards_ : 0, parameters, given);
}

double Processes::backward(int64_t rows, const std::vector<Tensor>& parameters,
                           const std::function<ShardLoss(int64_t, int64_t)>& loss) {
  constexpr int kMeasured = 12;  // calls that measure whether overlap pays
  const auto begin = std::chrono::steady_clock::now();
  const auto take_gradient = [](const Tensor& p) {
    Tensor g = p.grad();
    if (g.defined()) p.set_grad(Tensor());
    return g;
  };
  if (shards_ == 1) {
    check(rows > 0, "Processes: backward: there are no rows");
    const ShardLoss all = loss(0, rows);
    std::ranges::for_each(parameters, take_gradient);
    all.loss.backward();
    return all.loss.item();
  }

  Generator& random = default_generator();
  const Generator next = random.split(random.reserve(1)), after = random;

  // Sum 0 is of the weight of a shard and of its weighted loss, sum i + 1 of the weighted gradient of
  // parameter i, and the last one of which parameters have a gradient.
  const size_t n = parameters.size();
  detail::Reduction sums(messages_, shards_, n + 2);
  const bool overlaps = size() > 1 && (calls_ < kMeasured ? calls_ % 2 == 1 : seconds_[1] < seconds_[0]);
  for (int64_t shard = sums.from; shard < sums.to; ++shard) {
    const int64_t from = rows * shard / shards_, to = rows * (shard + 1) / shards_;
    std::vector<double> facts = {0, 0}, has_gradient(n);
    const auto add = [&](size_t i, Tensor g) {
      has_gradient[i] = g.defined();
      if (!g.defined()) g = kernel::full(parameters[i].shape(), 0, parameters[i].dtype());
      sums.add(1 + i, shard, std::move(g));
    };
    ShardLoss part = {};
    if (from < to) {
      random = next.split(static_cast<uint64_t>(shard));
      part = loss(from, to);
      random = after;
      check(part.weight > 0, "Processes: backward: the weight of rows ", from, " to ", to, " is ",
            part.weight, "; it must be the number of rows or tokens");
      facts[0] = static_cast<double>(part.weight);
      facts[1] = facts[0] * part.loss.item();
    }
    sums.add(0, shard, from_vector(facts, {2}));
    std::ranges::for_each(parameters, take_gradient);
    if (from < to) {
      std::optional<GradientObserver> observer;
      if (overlaps && shard + 1 == sums.to)
        observer.emplace().f = [&](Node& leaf, const Tensor& g) {
          for (size_t i = 0; i < n && !leaf.hooks; ++i)
            if (Node::of(parameters[i]) == &leaf && has_gradient[i] == 0) add(i, g), sums.advance();
        };
      part.loss.backward(kernel::full({}, facts[0], part.loss.dtype()));
    }
    for (size_t i = 0; i < n; ++i)
      if (has_gradient[i] == 0) add(i, take_gradient(parameters[i]));  // else the observer has added it
    sums.add(1 + n, shard, from_vector(has_gradient, {std::ssize(has_gradient)}));
  }
  messages_.wait([&] { return sums.advance(); });

  const auto *total = sums.sum(0).data<double>(), *has_gradient = sums.sum(1 + n).data<double>();
  check(total[0] > 0, "Processes: backward: there are no rows");
  for (size_t i = 0; i < n; ++i)
    if (has_gradient[i] > 0) parameters[i].set_grad(sums.sum(1 + i));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (calls_ < kMeasured && ++calls_ > 2) seconds_[overlaps] = std::min(seconds_[overlaps], seconds.count());
  return total[1] / total[0];
}

}  // namespace heed
