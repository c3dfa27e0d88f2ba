#pragma once

#include <iostream>

#include "examples/shared/onnx_files.h"
#include "nn/files/file.h"
#include "nn/files/text_file.h"
#include "nn/onnx/import.h"
#include "nn/text/batch.h"
#include "tests/support/expect.h"

/// Models that the programs export as ONNX files, computed by load_onnx.

/// Calls write(files) as a program does for `export --onnx FILE`. Returns its message if it fails, else "".
inline std::string run_export(const std::string& file,
                              const std::function<void(const program::OnnxFiles&)>& write) {
  program::Program self("program", "");
  std::vector<std::string> arguments;
  const program::OnnxFiles files(self, arguments);
  self.arguments("COMMAND", arguments, "");
  std::array<std::string, 4> texts{"program", "export", "--onnx", file};
  std::array<char*, 4> argv{texts[0].data(), texts[1].data(), texts[2].data(), texts[3].data()};
  std::ostringstream errors;
  std::streambuf* const before = std::cerr.rdbuf(errors.rdbuf());
  const int code = self.run(4, argv.data(), [&] {
    self.silence();
    write(files);
  });
  std::cerr.rdbuf(before);
  CHECK((code == 0) == errors.str().empty());
  return errors.str();
}

/// What the metadata of an ONNX file say.
inline std::map<std::string, std::string> metadata_of(const std::string& path) {
  return onnx::decode(read_bytes(path)).metadata_props;
}

/// An encoder and a decoder of `translate` or `g2p`.
struct ExportedDecoder {
  explicit ExportedDecoder(const std::string& stem)
      : encoder(load_onnx(stem + "_encoder.onnx")),
        decoder(load_onnx(stem + "_decoder.onnx")),
        words(metadata_of(stem + "_encoder.onnx")) {}

  /// The most probable answer to each source. Batches have `padding` columns more than they need.
  std::vector<Tokens> answers(const std::vector<Tokens>& sources, int64_t most, int64_t padding = 0) const {
    const NoGrad guard;
    const Vocabulary source = Vocabulary::from_text(words.at("source")),
                     target = Vocabulary::from_text(words.at("target"));
    std::vector<Ids> ids;
    int64_t longest = 0;
    for (const Tokens& tokens : sources) {
      ids.push_back(source.encode(tokens));
      longest = std::max(longest, std::ssize(tokens));
    }
    StateDict state = encoder(StateDict{{"source", pad_batch(ids, longest + padding).ids}});
    state["token"] = full({std::ssize(sources)}, Vocabulary::bos, int64);
    std::vector<Ids> all(sources.size());
    for (int64_t t = 0; t < most; ++t) {
      for (auto& [name, x] : decoder(state))
        state[name.starts_with("next_") ? name.substr(5) : "token"] =
            name.starts_with("next_") ? x : argmax(x, -1);
      const Ids next = state["token"].to_vector<int64_t>();
      for (size_t i = 0; i < all.size(); ++i) all[i].push_back(next[i]);
    }
    return detail::mapped(all, [&](const Ids& answer) { return target.decode(answer); });
  }

  OnnxModel encoder, decoder;
  std::map<std::string, std::string> words;
};
