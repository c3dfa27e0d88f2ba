// Every allocation of a training step, a load and a save fails in turn. Each time the call must throw
// bad_alloc or an Error, with all values as before it or as after it, without leaks, and the library must
// keep working.

#include "examples/translate/corpus.h"
#include "nn/files/checkpoint.h"
#include "nn/files/csv.h"
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/clip.h"
#include "nn/optim/sgd.h"
#include "nn/text/batch.h"
#include "nn/text/vocabulary.h"
#include "tests/faults/allocations.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"
#include "tests/support/word_classifier.h"

using faults::AllocationFailure;

namespace {

struct Net : WordClassifier {
  Net() : WordClassifier(1, {.dim_feedforward = 24, .dropout = 0.2}) {}
};

std::string bytes_of_all(const std::map<std::string, Tensor>& state) {
  std::string all;
  for (const auto& [name, x] : state) all += name + " " + to_string(x.shape()) + bytes_of(x);
  return all;
}
std::map<std::string, Tensor> clones(const std::map<std::string, Tensor>& state) {
  std::map<std::string, Tensor> copy;
  for (const auto& [name, x] : state) copy[name] = clone(x.detach());
  return copy;
}

// Sets up an action, runs it, and reads the state that it changes.
struct Action {
  std::function<void()> prepare, run;
  std::function<std::string()> state;
};

// Bytes and blocks in use, with empty caches.
std::pair<size_t, int64_t> in_use() {
  release_cached_memory();
  return {memory_use().live, faults::live_blocks()};
}

// Runs the action once for each of its allocations, with that allocation failing.
void check_failures(const Action& action, AllocationFailure::Kind kind) {
  std::string before, after;
  std::pair<size_t, int64_t> usual;
  for (int round = 0; round < 3; ++round) {  // allocates everything that is allocated only once
    action.prepare();
    before = action.state();
    action.run();
    after = action.state();
    REQUIRE(before != after);
  }
  int64_t number = 0;
  for (bool allocation_failed = true; allocation_failed; ++number) {
    CAPTURE(number);
    REQUIRE(number < 100000);
    action.prepare();
    release_cached_memory();
    bool failed = false;
    std::string said;
    {
      const AllocationFailure failure(number, kind);
      try {
        action.run();
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const Error& error) {
        failed = true;
        said = error.what();
      }
      allocation_failed = AllocationFailure::happened();
    }
    if (!said.empty()) CHECK_MESSAGE(contains(said, "memory: the system cannot provide"), said);
    const std::string now = action.state();
    if (failed)
      REQUIRE((now == before || now == after));
    else
      REQUIRE(now == after);
    REQUIRE(allocation_failed >= failed);
    if (kind == AllocationFailure::from_then_on) REQUIRE((failed || !allocation_failed || now == after));
    // The next run is not affected, and needs no new start where nothing changed.
    if (now != before) action.prepare();
    action.run();
    REQUIRE(action.state() == after);
    const auto now_in_use = in_use();
    if (number == 0) usual = now_in_use;
    REQUIRE(now_in_use.first == usual.first);
    REQUIRE(now_in_use.second <= usual.second + 3);  // a pass may have freed lists that it reuses
  }
  REQUIRE(number > 3);
}
void check_failures(const Action& action) {
  check_failures(action, AllocationFailure::from_then_on);
  check_failures(action, AllocationFailure::once);
}

// A model whose tensors are large.
struct Wide : Layer<Wide> {
  Tensor forward(const Tensor& ids) const { return last(softmax(first(words(ids)[{whole, 0}]), -1)); }
  void visit(Visitor& v) override {
    v("words", words);
    v("first", first);
    v("last", last);
  }
  Embedding words{40, 160};
  Linear first{160, 130};
  Linear last{130, 5};
};

template <class Model>
void check_step(bool first) {
  manual_seed(3);
  Model net;
  const Tensor ids = randint(0, 40, {3, 7}), classes = randint(0, 5, {3});
  auto adam = std::make_unique<Adam>(net.parameters());
  const auto step = [&] {
    manual_seed(5);
    adam->zero_grad();
    const Tensor loss = F::cross_entropy(net(ids), classes);
    loss.backward();
    clip_grad_norm_(net.parameters(), 0.1);
    adam->step();
  };
  if (!first) step();
  const StateDict start = clones(net.state_dict()), remembered = clones(adam->state_dict());
  check_failures({[&] {
                    net.load_state_dict(start);
                    adam = std::make_unique<Adam>(net.parameters());
                    adam->load_state_dict(remembered);
                    net.zero_grad();
                  },
                  step, [&] { return bytes_of_all(net.state_dict()) + bytes_of_all(adam->state_dict()); }});
}

// One step of an optimizer of two leaves, one of them not contiguous, with gradients that are set by hand.
template <class Kind>
void check_optimizer(const typename Kind::Options& options) {
  const Tensors leaves = {ones({3}).requires_grad_(), transpose(counted({2, 3})).detach().requires_grad_()};
  const StateDict start = clones({{"a", leaves[0]}, {"b", leaves[1]}});
  std::unique_ptr<Kind> optimizer;
  check_failures(
      {[&] {
         const NoGrad guard;
         copy_(leaves[0], start.at("a"));
         copy_(leaves[1], start.at("b"));
         leaves[0].set_grad(expand(full({1}, 2), {3}));
         leaves[1].set_grad(transpose(counted({2, 3})));
         optimizer = std::make_unique<Kind>(leaves, options);
       },
       [&] { optimizer->step(); },
       [&] {
         return bytes_of_all({{"a", leaves[0]}, {"b", leaves[1]}}) + bytes_of_all(optimizer->state_dict());
       }});
}

}  // namespace

TEST_CASE("out of memory in the first step of a training, and in a later one") {
  for (const bool first : {true, false}) {
    check_step<Net>(first);
    check_step<Wide>(first);
  }
}
TEST_CASE("out of memory in a step of each optimizer") {
  check_optimizer<SGD>({.momentum = 0.9});
  check_optimizer<Adam>({.amsgrad = true});
  check_optimizer<AdamW>({});
  check_optimizer<RMSprop>({.momentum = 0.5, .centered = true});
  check_optimizer<Adagrad>({});
}

TEST_CASE("out of memory in gradient clipping") {
  const Tensor a = ones({3}).requires_grad_(), b = ones({2, 3}).requires_grad_();
  const auto set = [&] {
    a.set_grad(full({3}, 5));
    b.set_grad(transpose(counted({3, 2})));
  };
  const auto state = [&] { return bytes_of(a.grad()) + bytes_of(b.grad()); };
  check_failures({set, [&] { clip_grad_norm_({a, b}, 1); }, state});
  check_failures({set, [&] { clip_grad_value_({a, b}, 1); }, state});
}

TEST_CASE("out of memory in a backward pass that keeps its graph") {
  const Tensor x = rand({3, 3}).requires_grad_(), z = rand({3, 3}).requires_grad_();
  const Tensor h = softmax(matmul(x, z), 0), y = sum(softmax(h * x, 1) * h);
  const auto gradients = [&] { return bytes_of(x.grad()) + bytes_of(z.grad()); };
  const auto set = [&] {
    x.set_grad(ones({3, 3}));
    z.set_grad(transpose(counted({3, 3})));
  };
  check_failures({set, [&] { y.backward(Tensor(), true); }, gradients});
  check_failures({set, [&] { y.backward(Tensor(), true, true); }, gradients});
  std::string found;
  check_failures({[&] { found = ""; },
                  [&] {
                    const Tensor slope = grad(y, {x}, true)[0];
                    const Tensor curve = grad(sum(slope * slope), {z}, true)[0];
                    found = bytes_of(curve);
                  },
                  [&] { return found; }});
}

TEST_CASE("out of memory while a model is saved and loaded") {
  const Folder folder;
  const std::string path = folder / "net.safetensors", npy = folder / "x.npy";
  manual_seed(3);
  Net net;
  const StateDict old = clones(net.state_dict());
  manual_seed(4);
  StateDict fresh = clones(Net().state_dict());
  for (auto& [name, x] : fresh) x = to(x, float64);  // loading converts them
  fresh["last.weight"] = clone(transpose(fresh["last.weight"]));
  fresh["last.weight"] = transpose(fresh["last.weight"]);

  const auto files = [&] {
    std::string all = read_file(path) + read_file(npy);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
      all += entry.path().filename().string();
    return all;
  };
  const auto restore = [&] {
    std::filesystem::remove_all(folder.path);
    std::filesystem::create_directory(folder.path);
    save_safetensors(path, old);
  };
  check_failures({restore, [&] { save_safetensors(path, fresh, {{"words", "a b"}}); }, files});
  check_failures({restore, [&] { save_npy(npy, fresh["last.weight"]); }, files});

  save_safetensors(path, fresh, {{"words", "a b"}});
  save_npy(npy, fresh["last.weight"]);
  check_failures({[&] { net.load_state_dict(old); },
                  [&] { net.load_state_dict(load_safetensors(path).tensors); },
                  [&] { return bytes_of_all(net.state_dict()); }});
  check_failures({[&] { net.load_state_dict(old); }, [&] { net.load_state_dict(fresh); },
                  [&] { return bytes_of_all(net.state_dict()); }});
  Linear square(40, 40);  // large enough that a transposed value is copied first
  const StateDict zero = {{"bias", zeros({40})}, {"weight", zeros({40, 40})}};
  const StateDict turned = {{"bias", ones({40})}, {"weight", transpose(counted({40, 40}))}};
  check_failures({[&] { square.load_state_dict(zero); }, [&] { square.load_state_dict(turned); },
                  [&] { return bytes_of_all(square.state_dict()); }});
  Tensor x;
  check_failures(
      {[&] { x = Tensor(); }, [&] { x = load_npy(npy); }, [&] { return x.defined() ? bytes_of(x) : ""; }});
  const std::string csv =
      folder.write("a.csv", "x,y\n1,2\n\"a-text-too-long-to-stand-inside-a-string\",4\n5,6\n");
  Values column;
  check_failures({[&] { column.clear(); }, [&] { column = values(read_csv(csv, {.skip_bad = true}).values); },
                  [&] { return std::to_string(column.size()); }});
  std::string lines;
  for (char c = 'a'; c < 'n'; ++c) lines += std::string(30, c) + "\t" + c + '\n';
  const std::string text = folder.write("pairs", lines);
  std::vector<program::Pair> pairs;
  check_failures({[&] { pairs.clear(); }, [&] { pairs = program::read_pairs(text); },
                  [&] { return std::to_string(pairs.size()); }});
  Vocabulary words;
  const Vocabulary some({{"a", "b", "a-token-too-long-to-stand-inside-a-string"}});
  check_failures({[&] { words = Vocabulary(); }, [&] { words = Vocabulary::from_text(some.to_text()); },
                  [&] { return words.to_text(); }});
}

TEST_CASE("out of memory while a checkpoint is saved and loaded") {
  const Folder folder;
  manual_seed(3);
  Linear model(3, 2);
  SGD optimizer(model.parameters(), {.lr = 0.5, .momentum = 0.5});
  StepLR schedule(optimizer, 2);
  Generator random(3);
  BatchStream batches({3, 1, 2, 3}, 2, Generator(4));
  int64_t count = 0;
  Values losses;
  Checkpoint checkpoint(folder / "checkpoints", 1);
  checkpoint.add("model", model);
  checkpoint.add("optimizer", optimizer);
  checkpoint.add("schedule", schedule);
  checkpoint.add("random", random);
  checkpoint.add("batches", batches);
  checkpoint.add("count", count);
  checkpoint.add("losses", losses);
  const auto train = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      for (const Tensor& p : model.parameters()) p.set_grad(ones(p.shape()));
      optimizer.step();
      schedule.step();
      random.set_position(random.position() + 5);
      batches.next();
      losses.push_back(static_cast<double>(++count));
    }
  };
  const auto state = [&] {
    return bytes_of_all(model.state_dict()) + bytes_of_all(optimizer.state_dict()) +
           bytes_of_all(batches.state_dict()) + std::to_string(schedule.epoch()) + " " +
           std::to_string(random.position()) + " " + std::to_string(count) + " " +
           std::to_string(losses.size()) + " " + std::to_string(checkpoint.step());
  };
  const std::string early = folder / "early", late = folder / "late";
  train(1);
  std::filesystem::copy(checkpoint.save(1), early);
  train(4);
  std::filesystem::copy(checkpoint.save(5), late);
  const auto files = [&] {
    std::string all;
    for (const std::string& file : checkpoint.files()) all += file + read_file(file);
    return all;
  };
  check_failures({[&] { checkpoint.load(early); }, [&] { checkpoint.load(late); }, state});
  check_failures({[&] { checkpoint.load(early); }, [&] { batches.next(); }, state});
  check_failures({[&] {
                    checkpoint.load(late);
                    for (const std::string& file : checkpoint.files()) std::filesystem::remove(file);
                    checkpoint.save(5);
                  },
                  [&] { checkpoint.save(6); }, [&] { return files() + std::to_string(checkpoint.step()); }});
}
