#include "tests/support/results.h"

// covers: C-003-19
TEST_CASE("complexity: the counts equal the formulas, which are linear in T except for attention") {
  const Json work =
      results_of("complexity", "--part work --longest 512 --width 16 --kernel 5 --threads 1")["work"];
  REQUIRE(work["lengths"] == Json({128, 256, 512}));
  CHECK(work["lengths"][0].is_number_integer());
  for (size_t i = 0; i < 3; ++i) {
    const double T = work["lengths"][i], d = 16;
    CHECK(work["recurrent"]["counted"][i] == 6 * T * d * d);
    CHECK(work["convolution"]["counted"][i] == 5 * T * d * d);
    CHECK(work["attention"]["counted"][i] == 2 * T * T * d);
    for (const char* layer : {"recurrent", "convolution", "attention"})
      CHECK(work[layer]["seconds"][i] > 0);  // durations are not tested
  }
  for (const char* layer : {"recurrent", "convolution", "attention"}) {
    CHECK(work[layer]["counted"] == work[layer]["formula"]);
    CHECK(work[layer]["theory"] == (layer == std::string("attention") ? 2 : 1));
    CHECK(std::abs(work[layer]["exponent"].get<double>() - work[layer]["theory"].get<double>()) < 1e-9);
    CHECK(std::isfinite(work[layer]["time_exponent"].get<double>()));
  }
}

// covers: C-003-20
TEST_CASE("complexity: attention needs quadratic memory, blocked attention linear memory") {
  if (heed::reference_mode()) return;  // in reference mode blocked attention is the materialised one
  const Json memory =
      results_of("complexity", "--part memory --longest 2048 --width 32 --threads 1")["memory"];
  for (const char* form : {"materialised", "blocked"}) {
    CAPTURE(form);
    CHECK(memory[form]["theory"] == (form == std::string("blocked") ? 1 : 2));
    CHECK(std::abs(memory[form]["exponent"].get<double>() - memory[form]["theory"].get<double>()) < 0.15);
  }
  CHECK(memory["materialised"]["bytes"].back() > 20 * memory["blocked"]["bytes"].back().get<double>());
}

// covers: C-002-13
TEST_CASE("complexity: attention recalls the first token at any distance, a recurrent network does not") {
  const Json recall = results_of("complexity", "--part recall --reach 64 --steps 250 --threads 1")["recall"];
  REQUIRE(recall["lengths"] == Json({8, 16, 32, 64}));
  for (size_t i = 0; i < 4; ++i) CHECK(recall["attention"]["accuracy"][i] > 0.95);
  CHECK(recall["rnn"]["accuracy"][3] < 0.5);
  CHECK(recall["gru"]["accuracy"][3] < 0.5);
  for (const char* model : {"rnn", "gru", "attention"})
    CHECK(std::abs(recall[model]["parameters"].get<double>() - 5000) < 200);
}

TEST_CASE("complexity: tables and figures") {
  const Folder folder;
  const Run done = run_program("complexity", "--part memory --longest 512 --out '" + folder / "out" + "'");
  REQUIRE(done.code == 0);
  CHECK(contains(done.out, "materialised"));
  CHECK(contains(done.out, "theory T^2"));
  CHECK(contains(read_file(folder / "out/memory.csv"), "T,materialised,blocked\n128,"));
  CHECK(contains(read_file(folder / "out/memory.gp"), "set logscale y"));
}

TEST_CASE("complexity: invalid options exit with a message and code 2") {
  for (const auto& [arguments, text] : std::vector<std::pair<std::string, std::string>>{
           {"--part words", "--part words is none of work, memory, recall and all"},
           {"--longest 600", "--longest 600 is not 512, 1024, 2048, 4096 or 8192"},
           {"--longest 0", "--longest 0 is not"},
           {"--width 0", "--width is 0; it must be from 1 to 1024"},
           {"--kernel 1", "--kernel is 1; it must be from 2 to 64"},
           {"--reach 100", "--reach 100 is not 8, 16, 32, 64, 128, 256 or 512"},
           {"--steps -3", "--steps is -3; it must be from 1 to 100000"},
           {"--part memory --kernel 3", "--kernel is for work; not for memory"},
           {"--part work --log x", "--log is for recall; not for work"},
           {"--steps many", "steps"}})
    CHECK(contains(refusal_of("complexity", arguments), text));
}
