// The names of all workloads, in the order in which they are run.
#include "workload.h"

namespace bench {

void add_heads(const std::string& name, decltype(mha_step) step) {
  const auto add_size = [&](const std::string& size, int64_t batch, int64_t length, int64_t width,
                            int64_t heads) {
    add(name + "/" + size, [=](State& state) {
      step(state, batch, length, width, heads);
    })->Unit(benchmark::kMillisecond);
  };
  add_size("64x32x128h4", 64, 32, 128, 4);
  add_size("32x64x256h8", 32, 64, 256, 8);
  add_size("8x256x512h8", 8, 256, 512, 8);
}

void add_long(const std::string& name, decltype(attention_long) attend) {
  for (const bool is_causal : {false, true})
    for (const int64_t length : {512, 1024, 2048, 4096, 8192})
      add(name + (is_causal ? "/causal/" : "/full/") + std::to_string(length), [=](State& state) {
        attend(state, length, is_causal);
      })->Unit(benchmark::kMillisecond);
}

void add_workloads() {
  add_overhead();
  add_elementwise();
  add_rows();
  add_linear();
  add_images();

  add("kernel_regression_step", kernel_regression_step)->Unit(benchmark::kMicrosecond);
  add("mlp_step", mlp_step)->Unit(benchmark::kMicrosecond);
  add("adam_step", adam_step)->Unit(benchmark::kMillisecond);

  add("attention_scores_additive", attention_scores_additive)->Unit(benchmark::kMicrosecond);
  add_heads("mha_step", mha_step);
  add_long("attention_long", attention_long);

  add("gru_seq2seq_step", gru_seq2seq_step)->Unit(benchmark::kMillisecond);
  for (const Translator& size : {small, large})
    add(std::string("transformer_seq2seq_step/") + size.name, [size](State& state) {
      transformer_seq2seq_step(state, size);
    })->Unit(benchmark::kMillisecond);
  for (const bool cached : {false, true})
    for (const int64_t batch : {1, 64})
      add(std::string("greedy_decode/") + (cached ? "kvcache/" : "nocache/") + std::to_string(batch),
          [=](State& state) { greedy_decode(state, cached, batch); })
          ->Unit(benchmark::kMillisecond);
  add("gpt_step", gpt_step)->Unit(benchmark::kMillisecond);
}

}  // namespace bench
