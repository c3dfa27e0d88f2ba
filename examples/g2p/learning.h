#pragma once

#include "examples/g2p/pronunciation.h"
#include "examples/shared/training.h"

/// The training of g2p.
namespace program {

/// The options of g2p; 0 means a default that depends on the others.
struct G2pOptions {
  std::vector<std::string> arguments;  // without a name: the command, then words or a file
  std::vector<std::string> ensemble;
  std::string model = "gru", train, dev, test;
  int64_t width = 0, layers = 0, batch = 128, epochs = 0, words = 0, average = 0, test_words = 2000,
          beams = 5, n_best = 1;
  double minutes = 0, lr = 1e-3, dropout = 0.3, smoothing = 0.1;
  bool skip_bad = false, alignment = false;
};

/// Trains a model as the options say, prints and draws its errors, and saves it to g2p_model_file().
void train_g2p(Program& self, Trainings& trainings, G2pOptions& options);

/// Says which training would be long enough: "--minutes 2 would do". Returns "" for one that is. `small` is
/// the model that is trained by default; its sizes are named if so many minutes choose the larger one.
std::string training_advice(const G2pOptions& options, bool small, double epochs);
/// The file of the model in --out.
std::string g2p_model_file(const Program& self);
/// Prints how many lines of the user's files were skipped, and adds it to the results.
void report_skipped(Program& self, int64_t lines);

}  // namespace program
