#include "nn/training/log.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "nn/files/file.h"
#include "nn/files/text_file.h"
#include "tensor/utf8.h"

namespace heed {

using LogLine = nlohmann::ordered_json;

// Calls f(line, its values) for each complete line of a log. Text without a newline at the end is a line that
// is being written, or was being written when the program was killed.
static void each_log_line(const std::string& path, auto&& f) {
  const std::string text = read_bytes(path);
  for (size_t begin = 0, end = 0, number = 1; begin < text.size(); begin = end + 1, ++number) {
    end = std::min(text.find('\n', begin), text.size());
    const bool complete = end < text.size();
    const std::string line = text.substr(begin, end - begin);
    const LogLine values = LogLine::parse(line, nullptr, false);
    const bool valid = values.is_object() && values.value("step", LogLine()).is_number_integer() &&
                       values.value("run", LogLine("")).is_string();
    check(complete ? valid : line[0] == '{', path, ":", number,
          ": is not a line of a training log, such as {\"step\": 1, \"loss\": 0.5}");
    if (complete) f(line, values);
  }
}

static double number_or_nan(const LogLine& values, const char* name) {
  const auto found = values.find(name);
  return found != values.end() && found->is_number() ? found->get<double>() : NAN;
}

TrainingLog::TrainingLog(const std::string& path, std::string run, int64_t step, bool append)
    : path_(path), run_(std::move(run)) {
  check(valid_utf8(run_) == run_.size(), "TrainingLog: the name of the run is not UTF-8; choose another");
  std::string kept;
  std::error_code ignored;  // writing reports what is wrong
  if (std::filesystem::is_regular_file(path, ignored)) {
    const auto keep = [&](const std::string& line, const LogLine& values) {
      if (append && (values.value("run", "") != run_ || values["step"] <= step)) kept += line + "\n";
    };
    try {
      each_log_line(path, keep);
    } catch (const Error& error) {
      fail(error.what(), append ? "" : "; choose another file, since this one would be overwritten");
    }
  }
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  write_file(path, kept);
  fd_ = open_shared(path, O_WRONLY | O_APPEND);
  check(*fd_ >= 0, path, ": cannot be written: ", std::strerror(errno));
}

void TrainingLog::write(int64_t step, const StepRecord& record, double seconds) {
  if (!fd_) return;
  LogLine line = LogLine::object();
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
  const bool written = write_all(*fd_, line.dump() + "\n");
  check(written, path_, ": cannot be written: ", std::strerror(errno));
}

std::vector<LossCurve> read_log(const std::string& path) {
  std::vector<LossCurve> curves;
  each_log_line(path, [&](const std::string&, const LogLine& values) {
    const std::string run = values.value("run", "");
    auto curve = std::ranges::find(curves, run, &LossCurve::name);
    if (curve == curves.end()) curve = curves.insert(curve, {run, {}, {}, {}});
    curve->steps.push_back(values["step"]);
    curve->losses.push_back(number_or_nan(values, "loss"));
    curve->validations.push_back(number_or_nan(values, "validation"));
  });
  return curves;
}

}  // namespace heed
