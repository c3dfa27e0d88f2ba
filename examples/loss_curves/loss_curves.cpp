// Draws the logs of trainings, as --log writes them, into one picture, and puts their ends side by side.

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "examples/shared/loss_picture.h"
#include "examples/shared/program.h"
#include "tensor/error.h"

using namespace program;
using heed::LossCurve;

int main(int argc, char** argv) {
  Program self("loss_curves", "Draws the logs of trainings, as --log writes them, into one picture.");
  self.out = "out/loss_curves";
  std::vector<std::string> files;
  self.arguments("LOG", files, "Files of --log");
  return self.run(argc, argv, [&] {
    heed::check(!files.empty(), "give the files to draw: loss_curves out/translate/log.jsonl");
    std::vector<LossCurve> curves;
    for (const std::string& file : files)
      for (LossCurve& curve : heed::read_log(file)) {
        if (files.size() > 1) {  // the file without what all of them are called
          const std::filesystem::path path(file);
          const std::string name = path.stem() == "log" ? path.parent_path().filename() : path.stem();
          curve.name = curve.name.empty() ? name : name + ", " + curve.name;
        }
        curves.push_back(std::move(curve));
      }
    heed::Table table({"training", "steps", "loss at first", "last tenth", "lowest validation", "at step"});
    int64_t row = 0;
    for (const LossCurve& curve : curves) {
      const auto n = curve.steps.size(), tenth = std::max<size_t>(1, n / 10);
      double last = 0;
      for (size_t i = n - tenth; i < n; ++i) last += curve.losses[i] / static_cast<double>(tenth);
      size_t best = n;
      for (size_t i = 0; i < n; ++i)
        if (!std::isnan(curve.validations[i]) &&
            (best == n || curve.validations[i] < curve.validations[best]))
          best = i;
      const bool validated = best < n;
      table.add({curve.name.empty() ? "training" : curve.name, std::to_string(curve.steps.back()),
                 short_number(curve.losses[0]), short_number(last),
                 validated ? short_number(curve.validations[best]) : "-",
                 validated ? std::to_string(curve.steps[best]) : "-"});
      const std::string place = "trainings." + std::to_string(row++) + ".";
      self.result(place + "name", curve.name);
      self.result(place + "steps", curve.steps.back());
      self.result(place + "loss", last);
      if (validated) self.result(place + "validation", curve.validations[best]);
    }
    heed::check(row > 0, "there is no step in ", files[0], " yet");
    self.text()
        << "The loss of each step, and now and then that of data that is not learned from (validation). What "
           "to look for: a\nvalidation that rises again while the loss falls, where a training learns by "
           "heart.\n\n"
        << table.to_string() << "\n";
    draw_losses(self, "loss", curves);
  });
}
