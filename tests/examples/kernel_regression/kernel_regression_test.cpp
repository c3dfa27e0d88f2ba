#include <cstdio>
#include <sstream>

#include "tests/support/results.h"

namespace {

const std::string motorcycle = HEED_SOURCE_DIR "/examples/kernel_regression/motorcycle.csv";
const char* const pictures[] = {"fits", "attention_before", "attention_after",
                                "loss", "landscape",        "one_query"};

Run run(const std::string& arguments) { return run_program("kernel_regression", arguments); }

Json results(const std::string& arguments) { return results_of("kernel_regression", arguments); }

// The numbers of predictions.csv: x, y, average, fixed, learned, for one set of rows.
std::vector<Values> predictions(const std::string& path, const std::string& set) {
  std::vector<Values> rows;
  for (const std::string& line : lines_of(read_file(path))) {
    if (!line.starts_with(set + ",")) continue;
    std::istringstream fields(line.substr(set.size() + 1));
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(std::stod(field));
  }
  return rows;
}

double mean_squared_error(const std::vector<Values>& rows, size_t model) {
  double sum = 0;
  for (const auto& row : rows) sum += (row[1] - row[model]) * (row[1] - row[model]);
  return sum / static_cast<double>(rows.size());
}

}  // namespace

// covers: C-000-05 C-000-14 C-000-16
TEST_CASE("kernel_regression: known width and losses for the motorcycle data") {
  const Json json = results("--csv " + motorcycle);
  const auto number = [&](const char* model, const char* name) { return json[model][name].get<double>(); };
  CHECK(json["data"]["n"] == 133);
  CHECK(std::abs(number("average", "loo_mse") - 2352.71) < 0.005);
  CHECK(number("fixed", "w") == 1);
  CHECK(number("start", "w") < number("learned", "w") / 10);
  CHECK(number("start", "loo_mse") > 3 * number("learned", "loo_mse"));
  CHECK(number("fixed", "loo_mse") == doctest::Approx(597.0606).epsilon(1e-6));
  CHECK(std::abs(number("learned", "w") - 1.095) < 0.002);
  CHECK(std::abs(number("learned", "loo_mse") - 595.94) < 0.005);
  CHECK(number("learned", "bandwidth") * number("learned", "w") == doctest::Approx(1).epsilon(1e-12));
  CHECK(number("learned", "loo_mse") <= number("grid", "loo_mse"));
  CHECK(number("grid", "w") == doctest::Approx(number("learned", "w")).epsilon(0.05));
  CHECK(!json["learned"].contains("test_mse"));  // no test set
}

// covers: C-000-05 C-000-14 C-000-17
TEST_CASE("kernel_regression: for any seed, learned beats fixed, which beats the mean" *
          doctest::test_suite("learning")) {
  Values w, learned, fixed;
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Json json = results("--seed " + std::to_string(seed));
    CHECK(json["learned"]["test_mse"] < json["fixed"]["test_mse"]);
    CHECK(json["fixed"]["test_mse"] < json["average"]["test_mse"]);
    CHECK(json["average"]["test_mse"].get<double>() == doctest::Approx(0.9).epsilon(0.15));
    CHECK(json["learned"]["loo_mse"] < json["fixed"]["loo_mse"]);
    CHECK(json["learned"]["entropy"] < json["fixed"]["entropy"]);
    CHECK(json["learned"]["w"].get<double>() > 2 * json["start"]["w"].get<double>());  // clearly different
    CHECK(json["learned"]["loo_mse"] < json["start"]["loo_mse"]);
    w.push_back(json["learned"]["w"]);
    learned.push_back(json["learned"]["test_mse"]);
    fixed.push_back(json["fixed"]["test_mse"]);
  }
  const auto median_within = [](Values all, double low, double high) {
    std::sort(all.begin(), all.end());
    CHECK(all[10] > low);
    CHECK(all[10] < high);
  };
  median_within(w, 3, 6);
  median_within(learned, 0.04, 0.06);
  median_within(fixed, 0.3, 0.5);
}

// covers: C-000-06 C-000-12 C-000-15
TEST_CASE("kernel_regression: printed tables") {
  const Run done = run("");
  CHECK(done.code == 0);
  for (const char* part : {
           "parameters            w  training loss  leave-one-out       test MSE",
           "mean of all               0            0",
           "fixed kernel              0            1",  // the data are the model
           "learned kernel            1        3.198",
           "cross-validated on a grid",
           "training loss 0, as each point remembers itself",
           "boxcar",
           "epanechnikov",
           "triangular",
           "One query against all keys",
           "sum of weight x value",
       }) {
    CAPTURE(part);
    CHECK(contains(done.out, part));
  }
  // The constant kernel is the mean of the other points: the same printed loss.
  CHECK(contains(done.out, "constant                      1.116 (0)                  1.116 (0)"));
}

// covers: C-000-02
TEST_CASE("kernel_regression: the figure of one query shows the weights of the run") {
  const Folder folder;
  const Json json = results("--seed 5 --out " + folder.path.string());
  const double w = json["learned"]["w"];
  const Texts lines = lines_of(read_file(folder / "one_query.csv"));
  CHECK(lines[0] == "x,y,weight");
  Values x, weights;
  double answer = 0, kernels = 0, one_x = 0, y = 0, weight = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    REQUIRE(std::sscanf(lines[i].c_str(), "%lf,%lf,%lf", &one_x, &y, &weight) == 3);
    x.push_back(one_x);
    weights.push_back(weight);
    answer += weight * y;
    kernels += std::exp(-std::pow((2.5 - one_x) * w, 2) / 2);
  }
  REQUIRE(x.size() == 50);
  for (size_t i = 0; i < 50; ++i)
    CHECK(weights[i] == doctest::Approx(std::exp(-std::pow((2.5 - x[i]) * w, 2) / 2) / kernels));
  // The figure shows the weights as areas and numbers, and the resulting prediction.
  const std::string plot = read_file(folder / "one_query.gp");
  CHECK(contains(plot, "sqrt($3 / "));
  CHECK(contains(plot, "(sprintf('%.2f', $3)) with labels"));
  double drawn = 0;
  REQUIRE(std::sscanf(plot.c_str() + plot.rfind("\n2.5,"), "\n2.5,%lf", &drawn) == 1);
  CHECK(drawn == doctest::Approx(answer).epsilon(1e-9));
}

// covers: C-000-04 C-000-16
TEST_CASE("kernel_regression: built-in data, predictions, data of the figures") {
  const Folder folder;
  const Json json = results("--seed 5 --out " + folder.path.string());
  const auto data = predictions(folder / "predictions.csv", "data"),
             test = predictions(folder / "predictions.csv", "test");
  REQUIRE(data.size() == 50);
  REQUIRE(test.size() == 50);
  const auto truth = [](double x) { return 2 * std::sin(x) + std::pow(x, 0.8); };
  double variance = 0;
  for (const auto& row : data) {
    CHECK((row[0] >= 0 && row[0] < 5));
    variance += std::pow(row[1] - truth(row[0]), 2) / 50;
  }
  CHECK(std::sqrt(variance) == doctest::Approx(0.5).epsilon(0.25));
  for (size_t i = 0; i < 50; ++i) {
    CHECK(test[i][0] == doctest::Approx(static_cast<double>(i) / 10));
    CHECK(test[i][1] == doctest::Approx(truth(test[i][0])));
  }
  // The written predictions have the reported losses.
  const char* models[] = {"average", "fixed", "learned"};
  for (size_t m = 0; m < 3; ++m) {
    CHECK(mean_squared_error(data, 2 + m) == doctest::Approx(json[models[m]]["loo_mse"].get<double>()));
    CHECK(mean_squared_error(test, 2 + m) == doctest::Approx(json[models[m]]["test_mse"].get<double>()));
  }
  for (const char* picture : pictures) CHECK(std::filesystem::exists(folder / picture + ".gp"));
  const std::string graph = read_file(folder / "graph.svg");
  CHECK(contains(graph, " = masked_softmax</text>"));
  CHECK(contains(graph, "[50, 50] from 0 to "));
}

TEST_CASE("kernel_regression: --out prints the paths of the figures at the end") {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) return;
  const Folder folder;
  const Run done = run("--csv " + motorcycle + " --out " + folder.path.string());
  REQUIRE(done.code == 0);
  CHECK(done.out.ends_with("\n" + folder / "one_query.svg" + "\n"));
  for (const char* picture : pictures) {
    CAPTURE(picture);
    CHECK(contains(done.out, "\n" + folder / picture + ".svg\n"));
    const std::string svg = read_file(folder / picture + ".svg");
    CHECK(svg.starts_with("<?xml"));
    CHECK(svg.ends_with("</svg>\n\n"));
  }
}

TEST_CASE("kernel_regression: invalid data exit with 2 and write nothing") {
  const Folder folder;
  for (const auto& [contents, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "is empty"},
           {"x,y\n1,2\n2,3\n", "has 2 rows of data; at least 3 are needed"},
           {"x,y\n4,2\n4,3\n4,1\n", "every x is 4, so x tells nothing about y"},
           {"x,y\n1,2\n2,a\n3,1\n", "3  column \"y\": \"a\" is not a number"},
           {"x,y\n1e200,2\n2,2\n3,1\n", "numbers from 2 to 1e+200 cannot be squared"},
           {"x,y\n1e-300,2\n2e-300,2\n3e-300,1\n", "cannot be squared"},
       }) {
    CAPTURE(contents);
    const std::string wrong = refusal_of("kernel_regression", "--csv " + folder.write("a.csv", contents) +
                                                                  " --out " + folder / "out" + " --json -");
    CHECK(contains(wrong, "a.csv"));
    CHECK(contains(wrong, part));
    CHECK(!std::filesystem::exists(folder / "out"));
  }
  refusal_of("kernel_regression", "--csv " + folder / "missing.csv");
  refusal_of("kernel_regression", "--csv " + motorcycle + " --x nothing");
}

TEST_CASE("kernel_regression: the same bits on any number of threads" * doctest::test_suite("threads")) {
  const Folder folder;
  heed::Generator random(1);
  std::string table;
  for (int i = 0; i < 3000; ++i)
    table += std::to_string(i / 300.0) + "," + std::to_string(std::sin(i / 75.0) + random.uniform()) + "\n";
  const std::string file = folder.write("a.csv", table);
  const std::string one = run("--csv " + file + " --json - --threads 1").out;
  CHECK(Json::parse(one)["learned"]["loo_mse"].get<double>() == doctest::Approx(1.0 / 12).epsilon(0.05));
  for (const char* threads : {"2", "3", "7"})
    CHECK(run("--csv " + file + " --json - --threads " + threads).out == one);
}

TEST_CASE("kernel_regression: an --out that cannot be made is an error before anything is printed") {
  CHECK(contains(refusal_of("kernel_regression", "--out /proc/heed/out"), "/proc/heed/out"));
}
