// Every form of attention, trained on the same small tasks with the same steps and numbers of parameters.
//
// Each form is one entry of form_list.cpp: the options of MultiheadAttention in which it differs. The model
// around it, the tasks, the steps and the seeds are the same for all. What the literature says about some of
// the forms is compared with what was measured.

#include <heed.h>

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "examples/forms/attended.h"
#include "examples/forms/scaling.h"
#include "examples/forms/verdicts.h"
#include "examples/shared/program.h"

using namespace heed;
using namespace program;

namespace {

// Forms whose memory grows with T^2 are measured at shorter lengths.
std::vector<int64_t> measured_lengths(const Form& form) {
  if (form.memory > 1) return {256, 512, 1024};
  return {512, 1024, 2048};
}

// What was measured of one form.
struct FormRow {
  const Form& form;
  std::vector<Trained> tasks;
  FormScaling scaling;
};

// The entries of these names, each once, in the order of the list; all of them for "all".
template <class Entry>
std::vector<const Entry*> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names,
                                 const Entry& (*find)(const std::string&)) {
  std::vector<const Entry*> entries;
  for (const std::string& name : names)
    if (name != "all") find(name);
  for (const Entry& entry : all)
    if (std::ranges::any_of(names,
                            [&](const std::string& name) { return name == "all" || name == entry.name; }))
      entries.push_back(&entry);
  return entries;
}

std::string names_of(const auto& entries) {
  std::string names;
  for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

std::string two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

void print_table(Program& self, const std::vector<const Task*>& tasks, const std::vector<FormRow>& rows) {
  std::vector<std::string> header = {"form"};
  for (const Task* task : tasks) header.push_back(task->name);
  for (const char* name : {"steps/s", "parameters", "time", "theory", "memory", "theory"})
    header.push_back(name);
  Table table(header);
  for (const FormRow& row : rows) {
    std::vector<std::string> cells = {row.form.name};
    double steps = 0, seconds = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const Trained& t = row.tasks[i];
      cells.push_back(two_digits(t.accuracy) + (t.accuracy >= tasks[i]->solved ? "* (" : "  (") +
                      two_digits(t.longer_accuracy) + ")");
      steps += static_cast<double>(t.steps);
      seconds += t.seconds;
    }
    cells.push_back(short_number(std::round(steps / seconds)));
    cells.push_back(std::to_string(row.tasks.front().parameters));
    cells.push_back("T^" + two_digits(row.scaling.time));
    cells.push_back("T^" + short_number(row.form.time));
    cells.push_back("T^" + two_digits(row.scaling.memory));
    cells.push_back("T^" + short_number(row.form.memory));
    table.add(std::move(cells));
  }
  self.text() << table.to_string() << "\n\n";
  Table sentences({"form", "in what it differs"});
  for (const FormRow& row : rows) sentences.add({row.form.name, row.form.sentence});
  self.text() << sentences.to_string() << "\n\n";
}

void print_verdicts(Program& self, const std::vector<Verdict>& verdicts) {
  std::ostream& out = self.text();
  out << "What the literature says, and what this run measured:\n\n";
  if (verdicts.empty()) out << "nothing about these forms and tasks.\n";
  int64_t i = 0;
  for (const Verdict& verdict : verdicts) {
    const std::string word = verdict.holds ? "holds" : "does not hold";
    out << word << ": " << verdict.statement << ".\n  " << verdict.numbers << " (" << verdict.condition
        << ")\n";
    const std::string place = "verdicts." + std::to_string(i++) + ".";
    self.result(place + "name", verdict.name);
    self.result(place + "verdict", word);
    self.result(place + "numbers", verdict.numbers);
  }
}

void keep_results(Program& self, const std::vector<FormRow>& rows) {
  int64_t i = 0;
  for (const FormRow& row : rows) {
    const std::string place = "forms." + std::to_string(i++) + ".";
    self.result(place + "form", row.form.name);
    for (const Trained& t : row.tasks) {
      const std::string at = place + t.task + ".";
      self.result(at + "accuracy", t.accuracy);
      self.result(at + "loss", t.loss);
      self.result(at + "longer_accuracy", t.longer_accuracy);
      self.result(at + "longer_loss", t.longer_loss);
      self.result(at + "halved_after", t.halved_after);
      self.result(at + "parameters", t.parameters);
      self.result(at + "steps_per_second", static_cast<double>(t.steps) / t.seconds);
    }
    self.result(place + "time_exponent", row.scaling.time);
    self.result(place + "time_theory", row.form.time);
    self.result(place + "memory_exponent", row.scaling.memory);
    self.result(place + "memory_theory", row.form.memory);
  }
}

void compare_forms(Program& self, const std::vector<const Form*>& forms,
                   const std::vector<const Task*>& tasks, int64_t steps) {
  self.text() << "A causal transformer of width " << SequenceModel::kWidth << " with "
              << SequenceModel::kHeads << " heads, " << steps << " steps of Adam for each form and task\n\n";
  for (const Task* task : tasks)
    self.text() << "  " << task->name << ": " << task->sentence << " (trained with " << task->size
                << ", then " << task->longer << ")\n";
  std::vector<FormRow> rows;
  std::vector<Trained> all;
  std::vector<AttendedPicture> pictures;
  {
    Progress progress("training", std::ssize(forms) * std::ssize(tasks) * steps);
    for (const Form* form : forms) rows.push_back({*form, {}, {}});
    for (const Task* task : tasks)
      for (FormRow& row : rows) {
        manual_seed(self.seed);  // the same sequences for all forms
        SequenceModel model(row.form, *task);
        manual_seed(self.seed + 1);
        const std::string note = row.form.name + ", " + task->name + ", loss ";
        row.tasks.push_back(train_form(model, row.form, *task, steps,
                                       [&](double loss) { progress.step(note + short_number(loss)); }));
        all.push_back(row.tasks.back());
        if (!self.draws()) continue;
        manual_seed(self.seed + 2);
        const Tensor ids = task->draw(1, task->size / 2, true).ids;
        pictures.push_back(attended_picture(model, row.form, *task, ids));
      }
  }
  Progress progress("time and memory", std::ssize(rows));
  for (FormRow& row : rows) {
    manual_seed(self.seed);
    row.scaling = measure_scaling(row.form, measured_lengths(row.form));
    progress.step(row.form.name);
  }
  self.text()
      << "\nAccuracy for new sequences; * is solved; in parentheses for longer ones, only beyond the trained "
         "length.\nparameters: of the model for the first task. time, memory: of training one layer, for T "
         "up to "
         "2048, or 1024 where memory is T^2.\n\n";
  print_table(self, tasks, rows);
  print_verdicts(self, judge(all));
  keep_results(self, rows);
  if (self.draws()) self.write_picture("forms.html", attended_page(pictures));
}

}  // namespace

int main(int argc, char** argv) {
  Program self("forms", "Trains each form of attention on the same small tasks, and compares them.");
  self.default_threads = 1;
  std::vector<std::string> form_names = {"all"}, task_names = {"recall", "copy", "text"};
  int64_t steps = 250;
  self.option("--form", form_names, "Forms, or all (default): " + names_of(all_forms()));
  self.option("--task", task_names, "Tasks, or all (default: recall, copy, text): " + names_of(all_tasks()));
  self.option("--steps", steps, "Training steps of each form on each task");
  return self.run(argc, argv, [&] {
    check_range("--steps", steps, 1, 1000000);
    const std::vector<const Form*> forms = chosen(all_forms(), form_names, find_form);
    compare_forms(self, forms, chosen(all_tasks(), task_names, find_task), steps);
  });
}
