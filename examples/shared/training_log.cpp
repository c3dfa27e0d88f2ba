#include "examples/shared/training_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "examples/shared/csv.h"
#include "examples/shared/program.h"
#include "tensor/error.h"

namespace program {
namespace {

using Json = nlohmann::ordered_json;

// Calls f(line, its number, its values) for each whole line of a log. What is not followed by a newline is
// being written, or was when the program was killed.
template <class F>
void each_line(const std::string& path, F&& f) {
  const std::string text = read_bytes(path);
  size_t at = 0, end = 0;
  int64_t number = 1;
  const auto need = [&](bool log) {
    heed::check(log, path, ":", number,
                ": is no line of a log; --log writes {\"step\": 1, \"loss\": 0.5, ...}");
  };
  for (; (end = text.find('\n', at)) != text.npos; ++number, at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const Json values = Json::parse(line, nullptr, false);
    need(values.is_object() && values.value("step", Json()).is_number_integer() &&
         values.value("run", Json("")).is_string());
    f(line, values);
  }
  need(at == text.size() || text[at] == '{');
}

double number(const Json& values, const char* name) {
  const auto found = values.find(name);
  return found != values.end() && found->is_number() ? found->get<double>() : NAN;
}

}  // namespace

TrainingLog::TrainingLog(const std::string& path, std::string run, int64_t step, bool go_on)
    : path_(path), run_(std::move(run)) {
  std::string kept;
  std::error_code ignored;  // writing says what is wrong
  if (std::filesystem::is_regular_file(path, ignored)) {
    const auto keep = [&](const std::string& line, const Json& values) {
      if (go_on && (values.value("run", "") != run_ || values["step"] <= step)) kept += line + "\n";
    };
    try {
      each_line(path, keep);
    } catch (const heed::Error& error) {
      heed::fail(error.what(), go_on ? "" : "; it would be overwritten, choose another");
    }
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  heed::write_file(path, kept);
  fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  heed::check(fd_ >= 0, path, ": cannot be written: ", std::strerror(errno));
}

TrainingLog::~TrainingLog() {
  if (fd_ >= 0) close(fd_);
}

TrainingLog& TrainingLog::operator=(TrainingLog&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(run_, other.run_);
  std::swap(fd_, other.fd_);
  return *this;
}

void TrainingLog::write(int64_t step, const StepRecord& record, double seconds) {
  if (fd_ < 0) return;
  Json line = Json::object();
  if (!run_.empty()) line["run"] = run_;
  line["step"] = step;
  const auto put = [&](const char* name, double value) {
    if (std::isfinite(value)) line[name] = value;
  };
  put("loss", record.loss);
  put("rate", record.rate);
  put("gradient_norm", record.gradient_norm);
  if (record.tokens > 0) put("tokens_per_second", std::round(static_cast<double>(record.tokens) / seconds));
  put("validation", record.validation);
  const std::string text = line.dump() + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd_, text.data() + done, text.size() - done);
    heed::check(written >= 0 || errno == EINTR, path_, ": cannot be written: ", std::strerror(errno));
    done += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
}

std::vector<LossCurve> read_log(const std::string& path) {
  std::vector<LossCurve> curves;
  each_line(path, [&](const std::string&, const Json& values) {
    const std::string run = values.value("run", "");
    auto curve = std::ranges::find(curves, run, &LossCurve::name);
    if (curve == curves.end()) curve = curves.insert(curve, {run, {}, {}, {}});
    curve->steps.push_back(values["step"]);
    curve->losses.push_back(number(values, "loss"));
    curve->validations.push_back(number(values, "validation"));
  });
  return curves;
}

void draw_losses(Program& self, const std::string& file, const std::vector<LossCurve>& curves) {
  const int64_t most_points = curves.size() > 4 ? 50 : 200;  // of one
  std::string data, plot;
  double least = INFINITY, most = 0;
  size_t block = 0;
  const auto add = [&](const std::string& title, const std::string& style, const std::vector<int64_t>& steps,
                       const std::vector<double>& values, int64_t points) {
    std::string rows;
    const auto n = std::ssize(steps);
    for (int64_t point = 0; point < points; ++point) {
      double sum = 0;
      int64_t count = 0, last = 0;
      for (int64_t i = point * n / points; i < (point + 1) * n / points; ++i) {
        const auto at = static_cast<size_t>(i);
        if (!std::isfinite(values[at])) continue;
        sum += values[at], ++count, last = steps[at];
      }
      if (count == 0) continue;
      const double mean = sum / static_cast<double>(count);
      least = std::min(least, mean), most = std::max(most, mean);
      rows += std::to_string(last) + "," + heed::to_string(mean) + "\n";
    }
    if (rows.empty()) return;
    data += rows + "\n\n";
    plot += (plot.empty() ? "plot '" : ", \\\n  '") + file + ".csv' index " + std::to_string(block++) +
            " using 1:2 " + style + " title \"" + title + "\"";
  };
  for (size_t i = 0; i < curves.size(); ++i) {
    const LossCurve& curve = curves[i];
    const std::string name = curve.name.empty() ? "training" : curve.name;
    // Seven colours, then the same with dashes.
    const std::string colour =
        " linetype " + std::to_string(i + 1) + " dashtype " + std::to_string(i / 7 + 1);
    const auto n = std::ssize(curve.steps);
    add(name, "with lines linewidth 2" + colour, curve.steps, curve.losses, std::min(n, most_points));
    add(curve.name.empty() ? "validation" : name + ", validation", "with points pointtype 7" + colour,
        curve.steps, curve.validations, n);
  }
  if (plot.empty()) return;
  self.write(file + ".csv", data);
  self.plot(file, std::string("set datafile separator ','\nset title 'Loss'\nset xlabel 'step'\n"
                              "set ylabel 'loss'\nset xrange [0:*]\n") +
                      (least > 0 && most / least > 20 ? "set logscale y\n" : "") +
                      "set key below horizontal\n" + plot + "\n");
}

}  // namespace program
