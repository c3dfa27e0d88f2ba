#include "nn/distributed/processes.h"

#include <cstring>

#include "autograd/ops/shape.h"
#include "nn/distributed/reduction.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/random.h"

namespace heed {
namespace detail {

constexpr int kBroadcastTag = 2;
constexpr int64_t kBucket = 1 << 20;  // elements that are sent together
constexpr int64_t kAligned = 16;      // a gradient begins at a multiple of so many elements

// Where the gradients of the parameters are in vectors that are added over shards. Vector 0 holds the weight
// of the shard, its weighted loss, and for each parameter whether it has a gradient.
struct GradientLayout {
  struct Place {
    size_t vector;
    int64_t offset;
  };
  explicit GradientLayout(const std::vector<Tensor>& parameters) : parameters(parameters) {
    sizes = {{2 + std::ssize(parameters), float64}};
    for (const Tensor& p : parameters) {
      auto& [size, dtype] = sizes.back();
      if (sizes.size() == 1 || dtype != p.dtype() || size >= kBucket) sizes.push_back({0, p.dtype()});
      places.push_back({sizes.size() - 1, sizes.back().first});
      sizes.back().first += (p.numel() + kAligned - 1) / kAligned * kAligned;
    }
  }
  std::vector<Tensor> zeros() const {
    std::vector<Tensor> vectors;
    for (const auto& [size, dtype] : sizes) vectors.push_back(kernel::full({size}, 0, dtype));
    return vectors;
  }
  Tensor view(const std::vector<Tensor>& vectors, size_t i) const {
    const auto& [vector, offset] = places[i];
    return reshape(narrow(vectors[vector], 0, offset, parameters[i].numel()), parameters[i].shape());
  }
  const std::vector<Tensor>& parameters;
  std::vector<Place> places;                     // of the parameters
  std::vector<std::pair<int64_t, DType>> sizes;  // of the vectors
};

}  // namespace detail

Processes::Processes(const ProcessesOptions& options)
    : messages_(std::make_unique<detail::Messages>(options.silence, options.deadline)),
      shards_(options.shards == 0 ? size() : options.shards) {
  check(options.silence > 0 && options.deadline > 0, "Processes: silence is ", options.silence, ", deadline ",
        options.deadline, "; both must be above 0");
  check(shards_ >= size(), "Processes: ", shards_, " shards for ", size(),
        " processes; there must be at least one for each");
}

Processes::~Processes() = default;
void Processes::end() { messages_->end(); }
int64_t Processes::rank() const { return messages_->rank(); }
int64_t Processes::size() const { return messages_->size(); }

Processes::Rows Processes::part(int64_t rows) const {
  const auto start_of = [&](int64_t process) { return rows * (shards_ * process / size()) / shards_; };
  return {start_of(rank()), start_of(rank() + 1)};
}

std::vector<double> Processes::gather(double x) {
  const std::string bytes = messages_->gather(&x, sizeof x);
  std::vector<double> all(static_cast<size_t>(size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

double Processes::sum(double x) {
  double total = 0;
  for (const double value : gather(x)) total += value;
  return total;
}

void Processes::broadcast_bytes(std::span<char> bytes) {
  std::vector<detail::Transfer> transfers;
  for (int other = first() ? 1 : size(); other < size(); ++other)
    transfers.push_back(messages_->send(other, detail::kBroadcastTag, bytes.data(), bytes.size()));
  if (!first()) transfers.push_back(messages_->receive(0, detail::kBroadcastTag, bytes.data(), bytes.size()));
  messages_->wait(std::move(transfers));
}

std::string Processes::broadcast(const std::string& text) {
  std::string received = text;
  received.resize(static_cast<size_t>(broadcast(static_cast<double>(text.size()))));
  broadcast_bytes(received);
  return received;
}

void Processes::check_same(uint64_t hash, const char* what) {
  const std::string bytes = messages_->gather(&hash, sizeof hash);
  std::string others;
  for (int process = 1; process < size(); ++process)
    if (bytes.compare(sizeof hash * static_cast<size_t>(process), sizeof hash, bytes, 0, sizeof hash) != 0)
      others += (others.empty() ? "" : ", ") + messages_->name(process);
  check(others.empty(), "Processes: ", what, " of ", others, " differ from those of ", messages_->name(0));
}

// FNV-1a over numbers, with a shift after each multiplication, which alone would never carry high bits down.
static uint64_t hash_of(const auto& values, uint64_t hash = 14695981039346656037U) {
  for (const auto value : values) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    hash = (hash ^ bits) * 1099511628211U;
    hash ^= hash >> 32;
  }
  return hash;
}

void Processes::check_same(const std::vector<Tensor>& parameters) {
  const Generator& random = default_generator();
  uint64_t hash = hash_of(std::array{random.seed(), random.stream(), random.position()});
  for (const Tensor& p : parameters) p.for_each([&](auto value) { hash = hash_of(std::array{value}, hash); });
  check_same(hash, "the parameters, or the random numbers,");
}

void Processes::share(Module& model) {
  std::vector<NamedTensor> all = model.named_parameters(), buffers = model.named_buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  std::string names;
  for (const auto& [name, x] : all) names += detail::text(name, " ", x.dtype(), " ", x.shape(), "\n");
  check_same(hash_of(names), "the names, dtypes and shapes of the model");
  for (const auto& [name, x] : all)
    visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
      broadcast_bytes(
          {reinterpret_cast<char*>(x.mutable_data<T>()), static_cast<size_t>(x.numel()) * sizeof(T)});
    });
}

double Processes::backward(const Tensor& loss, const std::vector<Tensor>& parameters, int64_t weight) {
  check(shards_ == size(), "Processes: backward: there are ", shards_, " shards and ", size(),
        " processes; give a function that computes the loss of a shard");
  return backward(weight > 0 ? shards_ : 0, parameters, [&](int64_t, int64_t) {
    return ShardLoss{loss, weight};
  });
}

double Processes::backward(int64_t rows, const std::vector<Tensor>& parameters,
                           const std::function<ShardLoss(int64_t, int64_t)>& loss) {
  const auto drop_gradients = [&] {
    for (const Tensor& p : parameters)
      if (p.requires_grad()) p.set_grad(Tensor());
  };
  const auto backward_of = [&](int64_t from, int64_t to) {
    ShardLoss shard = loss(from, to);
    check(shard.weight > 0, "Processes: backward: the weight of rows ", from, " to ", to, " is ",
          shard.weight, "; it must be the number of rows or tokens");
    drop_gradients();
    shard.loss.backward();
    return std::pair(shard.loss.item(), shard.weight);
  };
  if (shards_ == 1) {
    check(rows > 0, "Processes: backward: there are no rows");
    return backward_of(0, rows).first;
  }

  const detail::GradientLayout layout(parameters);
  Generator& random = default_generator();
  const Generator next = random.split(random.reserve(1)), after = random;
  const auto restore = [&](Generator* generator) { *generator = after; };
  const std::unique_ptr<Generator, decltype(restore)> restored(&random, restore);

  std::vector<detail::Subtree> trees = detail::subtrees(shards_, messages_->size());
  std::vector<std::vector<Tensor>> sums;  // of subtrees that are complete
  for (const auto& [first, end, owner] : trees) {
    if (owner != rank()) continue;
    for (int64_t shard = first; shard < end; ++shard) {
      std::vector<Tensor>& vectors = sums.emplace_back(layout.zeros());
      const int64_t from = rows * shard / shards_, to = rows * (shard + 1) / shards_;
      if (from < to) {
        random = next.split(static_cast<uint64_t>(shard));
        const auto [mean, weight] = backward_of(from, to);
        const NoGrad guard;
        auto* numbers = vectors[0].mutable_data<double>();
        numbers[0] = static_cast<double>(weight);
        numbers[1] = static_cast<double>(weight) * mean;
        for (size_t i = 0; i < parameters.size(); ++i)
          if (const Tensor g = parameters[i].grad(); g.defined()) {
            numbers[2 + i] = 1;
            kernel::copy_into(layout.view(vectors, i), g);
          }
        for (size_t v = 1; v < vectors.size(); ++v)
          kernel::mul_into(vectors[v], kernel::full({}, numbers[0], vectors[v].dtype()));
      }
      for (int64_t n = detail::sums_after(shard, first, end); n > 0; --n) {
        for (size_t v = 0; v < vectors.size(); ++v) kernel::add_into(sums.end()[-2][v], sums.back()[v]);
        sums.pop_back();
      }
    }
  }

  detail::Reduction reduction(*messages_, trees);
  for (size_t v = 0; v < layout.sizes.size(); ++v) {
    std::vector<Tensor> own;
    for (const std::vector<Tensor>& vectors : sums) own.push_back(vectors[v]);
    reduction.start(static_cast<int>(v), std::move(own));
  }
  reduction.finish();
  const std::vector<Tensor>& total = sums[0];
  const auto* numbers = total[0].data<double>();
  check(numbers[0] > 0, "Processes: backward: there are no rows");
  const NoGrad guard;
  for (size_t v = 1; v < total.size(); ++v)
    kernel::mul_into(total[v], kernel::full({}, 1 / numbers[0], total[v].dtype()));
  drop_gradients();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (numbers[2 + i] > 0) parameters[i].set_grad(layout.view(total, i));
  return numbers[1] / numbers[0];
}

}  // namespace heed
