// A page where heed itself learns, and the reader's hand is on it: out/playground/index.html.

#include <ostream>

#include "examples/playground/functions.h"
#include "examples/playground/page.h"
#include "examples/playground/record.h"
#include "examples/shared/program.h"
#include "tensor/create.h"

using namespace program;

namespace {

// [n], as --json writes them.
heed::Tensor list(const std::vector<float>& numbers) {
  return heed::from_vector(numbers, {std::ssize(numbers)});
}

}  // namespace

int main(int argc, char** argv) {
  Program self("playground",
               "Makes a page of experiments with attention, which compute by heed as WebAssembly. --json has "
               "the first request of each function of the page, and the answer of this program.");
  return self.run(argc, argv, [&] {
    for (const Function& function : functions()) {
      const std::vector<float> request = function.first_request(), answer = function.run(request);
      self.result(std::string(function.name) + ".request", list(request));
      self.result(std::string(function.name) + ".answer", list(answer));
      self.text() << function.name << ": " << request.size() << " numbers, " << answer.size()
                  << " in the answer\n";
    }
    if (!self.draws()) return;
    const std::string wasm = playground_wasm();
    self.write_picture("index.html", playground_page(HEED_SOURCE_DIR "/examples/playground/page", wasm,
                                                     recorded_training()));
  });
}
