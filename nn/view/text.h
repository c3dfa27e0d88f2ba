#pragma once

#include "nn/attention/mask.h"
#include "nn/module.h"
#include "nn/text/tokenise.h"
#include "nn/view/capture.h"

/// Captured attention weights as text, and for files.
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

/// What the weights of an AttentionMap belong to.
struct AttentionMapOptions {
  /// The input and output of the model: the title of pictures, a choice in the page.
  std::string sentence = {};
  std::string module = {};  ///< for captions
  int64_t step = 0;         ///< the index of the module's call
  int64_t batch = 0;        ///< the entry of the batch
  bool heads = false;       ///< weights [X, Tq, Tk] have X heads of one entry, instead of X entries
  /// The mask of the attention. Masked keys are shown as such, while a weight of 0 may come from sparsemax.
  Mask mask = {};
};

/// The attention weights of one call and one entry of the batch, with their tokens.
struct AttentionMap {
  static constexpr int64_t mean = -1;  ///< the mean of all heads, in place of the index of a head

  /// Takes weights [B, H, Tq, Tk], [B, Tq, Tk] or [Tq, Tk], or [H, Tq, Tk] with options.heads, and a UTF-8
  /// token for each query and key. Control characters become pictures: a line feed is shown as ␊. If B > 1,
  /// the caption names the entry. Throws if the numbers of tokens and positions differ, or if the mask does
  /// not broadcast to the weights.
  AttentionMap(const Tensor& weights, Tokens queries, Tokens keys, AttentionMapOptions options = {});

  /// The number of heads.
  int64_t heads() const { return weights.size(0); }
  /// The weights of one query, a number for each key.
  std::vector<double> row(int64_t query, int64_t head = mean) const;
  /// Whether the mask forbids a query each of the keys; with the mean of all heads, whether it does in all.
  std::vector<bool> masked(int64_t query, int64_t head = mean) const;
  /// Whether a sentence attends to itself.
  bool own() const { return queries == keys; }

  Tokens queries, keys;
  Tensor weights;                ///< float64 [H, Tq, Tk]
  Tensor allowed;                ///< the mask, bool [H, Tq, Tk]; undefined without one
  std::string sentence, module;  ///< as shown in titles and captions
  int64_t step;                  ///< the index of the module's call
};

/// The calls of one module as one matrix, for a decoder that attends step by step: the weights [..., Tq, Tk]
/// of all steps below each other. Keys that did not exist yet have weight 0.
Tensor stacked_steps(const AttentionScope& scope, const std::string& module);

/// All captured weights, under the names module/step.
StateDict captured_weights(const AttentionScope& scope);

/// Plain text, or text with terminal colors.
enum class TextStyle { plain, coloured };

/// The weights of one query. In color: one line, with the current word in red and the keys shaded by weight.
/// Plain: a table of keys and weights, without those of masked keys.
std::string attention_line(const AttentionMap& map, int64_t query, TextStyle style,
                           int64_t head = AttentionMap::mean);
/// The weights of all queries. In color: such a line for each query. Plain: a table with a row for each query
/// and a column for each key; masked keys are blank.
std::string attention_text(const AttentionMap& map, TextStyle style, int64_t head = AttentionMap::mean);

namespace detail {
/// The path of a module as a reader would say it: "decoder.layers.1.multihead_attn" is "decoder, layer 2,
/// cross-attention", or the same in Chinese. Captions that are not paths stay the same.
std::string layer_name(const std::string& module, bool chinese);
}  // namespace detail

}  // namespace heed
