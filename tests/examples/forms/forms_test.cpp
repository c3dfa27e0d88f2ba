#include "tests/support/results.h"

TEST_CASE("forms: results, and a page") {
  const Folder folder;
  const Json all =
      results_of("forms", "--form softmax,delta --form linear --task recall,copy --steps 3 --out " +
                              folder.path.string());
  REQUIRE(all["forms"].size() == 3);
  CHECK(all["forms"][0]["form"] == "softmax");  // in the order of the list
  CHECK(all["forms"][1]["form"] == "linear");
  CHECK(all["forms"][0]["recall"]["accuracy"] < 0.5);
  CHECK(all["forms"][2]["time_theory"] == 1);
  CHECK(all["forms"][2]["memory_exponent"] > 0.5);
  REQUIRE(all["verdicts"].size() == 2);
  CHECK(all["verdicts"][0]["verdict"] == "does not hold");
  const std::string page = read_file(folder / "forms.html");
  CHECK(occurrences(page, "<figure>") == 6);
  CHECK(occurrences(page, "<h2>") == 2);
}

TEST_CASE("forms: the same seed gives the same numbers, whatever else is trained") {
  const Json alone = results_of("forms", "--form alibi --task text --steps 2");
  const Json among = results_of("forms", "--form nope,alibi --task copy,text --steps 2");
  const Json other = results_of("forms", "--form alibi --task text --steps 2 --seed 2");
  CHECK(alone["forms"][0]["text"]["loss"] == among["forms"][1]["text"]["loss"]);
  CHECK(alone["forms"][0]["text"]["loss"] != other["forms"][0]["text"]["loss"]);
}

TEST_CASE("forms: invalid options are errors before training") {
  CHECK(contains(refusal_of("forms", "--form softmaks"),
                 "--form is softmaks; it must be all, or some of softmax"));
  CHECK(
      contains(refusal_of("forms", "--task all,sums"), "--task is sums; it must be all, or some of recall"));
  CHECK(contains(refusal_of("forms", "--steps 0"), "--steps is 0; it must be from 1 to 1000000"));
}

TEST_CASE("forms: what the literature says about recall and longer texts" * doctest::test_suite("slow")) {
  const Json all = results_of(
      "forms", "--form softmax,learned,alibi,window,hard,hard_baseline,linear,delta --task recall,copy,text");
  REQUIRE(all["verdicts"].size() == 6);
  for (const Json& verdict : all["verdicts"]) {
    CAPTURE(verdict.dump());
    CHECK(verdict["verdict"] == "holds");
  }
}
