// Every form of attention, trained on the same small tasks with the same steps and numbers of parameters.

#include <heed.h>

#include <ostream>

#include "examples/forms/sequence_model.h"
#include "examples/shared/program.h"

using namespace heed;
using namespace program;

int main(int argc, char** argv) {
  Program self("forms", "Trains each form of attention on the same small tasks.");
  self.default_threads = 1;
  std::vector<std::string> form_names, task_names;
  int64_t steps = 300;
  self.option("--form", form_names, "Forms, separated by commas, or all");
  self.option("--task", task_names, "Tasks, separated by commas, or all");
  self.option("--steps", steps, "Training steps of each");
  return self.run(argc, argv, [&] {
    check_range("--steps", steps, 1, 1000000);
    for (const std::string& t : task_names)
      for (const std::string& f : form_names) {
        const Task& task = find_task(t);
        const Form& form = find_form(f);
        manual_seed(self.seed);
        SequenceModel model(form, task);
        manual_seed(self.seed);
        const Trained r = train_form(model, form, task, steps);
        self.text() << t << " " << f << " par " << r.parameters << " acc " << short_number(r.accuracy) << " loss "
                    << short_number(r.loss) << " longer " << short_number(r.longer_accuracy) << " loss "
                    << short_number(r.longer_loss) << " steps/s " << short_number(r.steps_per_second) << std::endl;
      }
  });
}
