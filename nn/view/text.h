#pragma once

#include "nn/module.h"
#include "nn/text/tokenise.h"
#include "nn/view/capture.h"

/// The weights that an AttentionScope recorded, for people to look at and for other programs to read.
///
///   AttentionScope scope;
///   model(source, target);
///   const AttentionMap map(scope.weights("decoder.cross"), target_tokens, source_tokens);
///   std::cout << attention_text(map, TextStyle::coloured);
///   write_file("cross.svg", attention_svg(map));                        // nn/view/heat_map.h
///   write_file("attention.html", attention_page({map}));                 // nn/view/page.h
///   save_safetensors("attention.safetensors", captured_weights(scope));  // nn/files/safetensors.h
///   save_npy("cross.npy", scope.weights("decoder.cross"));               // nn/files/npy.h
namespace heed {

/// What weights are of.
struct AttentionMapOptions {
  /// What was read, and what was made of it: the title of pictures, a choice of the page.
  std::string sentence = {};
  std::string module = {};  ///< as captions show it
  int64_t step = 0;         ///< which call of the module
  int64_t batch = 0;        ///< which entry of the batch
  bool heads = false;       ///< weights [X, Tq, Tk] are of X heads of one entry, not of X entries
};

/// The weights of one attention call for one entry of the batch, with the tokens they belong to.
struct AttentionMap {
  static constexpr int64_t mean = -1;  ///< in place of a head: the mean of all heads

  /// Weights [B, H, Tq, Tk], [B, Tq, Tk] or [Tq, Tk], with options.heads [H, Tq, Tk], and a token in UTF-8
  /// for each query and each key; Error where the numbers differ. Control characters become their pictures: a
  /// line feed is shown as ␊. Of several entries the caption says which one it is.
  AttentionMap(const Tensor& weights, Tokens queries, Tokens keys, AttentionMapOptions options = {});

  /// The number of heads.
  int64_t heads() const { return weights.size(0); }
  /// The weights of one query, a number for each key.
  std::vector<double> row(int64_t query, int64_t head = mean) const;
  /// Whether a sentence attends to itself.
  bool own() const { return queries == keys; }

  Tokens queries, keys;          ///< a token for each
  Tensor weights;                ///< float64 [H, Tq, Tk]
  std::string sentence, module;  ///< what was read; as captions show it
  int64_t step;                  ///< which call of the module
};

/// The calls of one module as one matrix, as a decoder makes them that attends step by step: weights
/// [..., Tq, Tk] of every step, one below the other. Keys that were not there yet have the weight 0.
Tensor stacked_steps(const AttentionScope& scope, const std::string& module);

/// All that a scope recorded, under the names module/step.
StateDict captured_weights(const AttentionScope& scope);

/// Text with the colours of terminals, or plain letters and numbers.
enum class TextStyle { plain, coloured };

/// The weights of one query. In colour one line: the current word red and the keys shaded by their weights;
/// plainly a table of keys and weights.
std::string attention_line(const AttentionMap& map, int64_t query, TextStyle style,
                           int64_t head = AttentionMap::mean);
/// All queries. In colour such a line for each; plainly one table, keys on its columns, queries on its rows.
std::string attention_text(const AttentionMap& map, TextStyle style, int64_t head = AttentionMap::mean);

}  // namespace heed
