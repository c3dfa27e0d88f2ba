#include "examples/shared/loss_picture.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("draw_losses: means of neighboring steps, and every validation") {
  const Folder folder;
  program::Program self("test", "");
  self.out = folder / "out";
  heed::LossCurve curve{"", {}, {}, {}};
  for (int64_t step = 1; step <= 400; ++step) {
    curve.steps.push_back(step);
    curve.losses.push_back(step % 2 ? 1 : 2);
    curve.validations.push_back(step % 100 ? NAN : 3);
  }
  program::draw_losses(self, "loss", {curve});
  const std::string data = read_file(folder / "out/loss.csv");
  CHECK(data.starts_with("2,1.5\n4,1.5\n"));
  CHECK(data.ends_with("\n\n100,3\n200,3\n300,3\n400,3\n\n\n"));
  CHECK(contains(read_file(folder / "out/loss.gp"), "title 'validation'"));
  curve.name = "the run's `id`";
  program::draw_losses(self, "named", {curve});
  CHECK(contains(read_file(folder / "out/named.gp"), "title 'the run''s `id`'"));  // gnuplot runs nothing
  program::draw_losses(self, "none", {});
  CHECK_FALSE(std::filesystem::exists(folder / "out/none.csv"));
}
