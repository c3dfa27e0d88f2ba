// Layers and losses of the reference cases.
#include "heed.h"
#include "tests/parity/expression.h"

namespace heed::parity {
namespace {

template <class M>
Subject unary(M layer) {
  const auto module = std::make_shared<M>(std::move(layer));
  return {module, [module](const Inputs& in) { return Outputs{(*module)(in["input"])}; }};
}

Shape shape_of(const Json& sizes) {
  return sizes.is_array() ? Shape(sizes.get<std::vector<int64_t>>()) : Shape{sizes.get<int64_t>()};
}

// A layer whose type is known only at run time, for Sequential.
struct AnyLayer : Layer<AnyLayer> {
  explicit AnyLayer(Subject subject) : subject(std::move(subject)) {}
  Tensor forward(const Tensor& x) const { return subject.call(Inputs({{"input", x}})).at(0); }
  void visit(Visitor& v) override { subject.module->visit(v); }
  Subject subject;
};

Dims list_of(const Fields& c, const char* name, const Dims& otherwise) {
  return c.has(name) ? Dims(shape_of(c[name])) : otherwise;
}

Padding padding_of(const Fields& c) {
  if (c.has("padding") && c["padding"].is_string()) return c["padding"].get<std::string>().c_str();
  return Padding(Shape(list_of(c, "padding", 0)));
}

ConvOptions conv_options(const Fields& c) {
  return {list_of(c, "stride", 1), padding_of(c),       list_of(c, "dilation", 1),
          c.get("groups", 1),      c.get("bias", true), list_of(c, "output_padding", 0)};
}

BatchNormOptions batch_norm_options(const Fields& c) {
  return {.eps = c.get("eps", 1e-5),
          .momentum = c.get("momentum", 0.1),
          .affine = c.get("affine", true),
          .track_running_stats = c.get("track_running_stats", true)};
}

MaxPoolOptions max_pool_options(const Fields& c) {
  return {list_of(c, "stride", {}), list_of(c, "padding", 0), list_of(c, "dilation", 1),
          c.get("ceil_mode", false)};
}

AvgPoolOptions avg_pool_options(const Fields& c) {
  return {list_of(c, "stride", {}), list_of(c, "padding", 0), c.get("ceil_mode", false),
          c.get("count_include_pad", true), c.optional<int64_t>("divisor_override")};
}

Reduction reduction_of(const Fields& config) {
  return config.choice<Reduction>("reduction", {{"mean", Reduction::mean},
                                                {"none", Reduction::none},
                                                {"sum", Reduction::sum},
                                                {"batchmean", Reduction::batchmean}});
}

// clang-format off
#define UNARY_LAYER(Kind, ...) {#Kind, []([[maybe_unused]] const Fields& c, const Fields&) { return unary(Kind(__VA_ARGS__)); }}
#define LOSS_LAYER(name, ...) \
  {#name, [](const Fields& c, const Fields&) { \
     return Subject{nullptr, [c](const Inputs& in) { return Outputs{F::name(in["input"], in["target"], __VA_ARGS__)}; }}; \
   }}
// clang-format on

}  // namespace

const Builds& layers() {
  using Config = const Fields&;
  static const Builds table = {
      UNARY_LAYER(Linear, c["in_features"], c["out_features"], {.bias = c.get("bias", true)}),
      UNARY_LAYER(Embedding, c["num_embeddings"], c["embedding_dim"],
                  {.padding_idx = c.optional<int64_t>("padding_idx")}),
      UNARY_LAYER(LayerNorm, shape_of(c["normalized_shape"]),
                  {.eps = c.get("eps", 1e-5),
                   .elementwise_affine = c.get("elementwise_affine", true),
                   .bias = c.get("bias", true)}),
      UNARY_LAYER(
          RMSNorm, shape_of(c["normalized_shape"]),
          {.eps = c.optional<double>("eps"), .elementwise_affine = c.get("elementwise_affine", true)}),
      UNARY_LAYER(Conv1d, c["in_channels"], c["out_channels"], shape_of(c["kernel_size"]), conv_options(c)),
      UNARY_LAYER(Conv2d, c["in_channels"], c["out_channels"], shape_of(c["kernel_size"]), conv_options(c)),
      UNARY_LAYER(ConvTranspose1d, c["in_channels"], c["out_channels"], shape_of(c["kernel_size"]),
                  conv_options(c)),
      UNARY_LAYER(ConvTranspose2d, c["in_channels"], c["out_channels"], shape_of(c["kernel_size"]),
                  conv_options(c)),
      UNARY_LAYER(MaxPool1d, shape_of(c["kernel_size"]), max_pool_options(c)),
      UNARY_LAYER(MaxPool2d, shape_of(c["kernel_size"]), max_pool_options(c)),
      UNARY_LAYER(AvgPool1d, shape_of(c["kernel_size"]), avg_pool_options(c)),
      UNARY_LAYER(AvgPool2d, shape_of(c["kernel_size"]), avg_pool_options(c)),
      UNARY_LAYER(BatchNorm1d, c["num_features"], batch_norm_options(c)),
      UNARY_LAYER(BatchNorm2d, c["num_features"], batch_norm_options(c)),
      UNARY_LAYER(GroupNorm, c["num_groups"], c["num_channels"],
                  {.eps = c.get("eps", 1e-5), .affine = c.get("affine", true)}),
      {"Sequential",
       [](Config c, Config) {
         Sequential model;
         for (const Json& layer : c["layers"]) model.push_back(AnyLayer(evaluate(layer, {}).layer));
         return unary(std::move(model));
       }},
      UNARY_LAYER(ReLU),
      UNARY_LAYER(GELU, c.choice<Gelu>("approximate", {{"none", Gelu::none}, {"tanh", Gelu::tanh}})),
      UNARY_LAYER(Tanh),
      UNARY_LAYER(Sigmoid),
      UNARY_LAYER(SiLU),
      UNARY_LAYER(ELU, c.get("alpha", 1.0)),
      UNARY_LAYER(Softplus, c.get("beta", 1.0), c.get("threshold", 20.0)),
      UNARY_LAYER(LeakyReLU, c.get("negative_slope", 0.01)),
      UNARY_LAYER(Softmax, c["dim"].get<int64_t>()),
      UNARY_LAYER(LogSoftmax, c["dim"].get<int64_t>()),
      UNARY_LAYER(Flatten, c.get("start_dim", 1), c.get("end_dim", -1)),
      UNARY_LAYER(Identity),
      {"Dropout",
       [](Config c, Config) {
         const double p = c.get("p", 0.5);
         Subject dropout = unary(Dropout(p));
         dropout.module->eval();
         return dropout;
       }},

      LOSS_LAYER(mse_loss, reduction_of(c)),
      LOSS_LAYER(l1_loss, reduction_of(c)),
      LOSS_LAYER(smooth_l1_loss, reduction_of(c), c.get("beta", 1.0)),
      LOSS_LAYER(huber_loss, reduction_of(c), c.get("delta", 1.0)),
      LOSS_LAYER(kl_div, {.reduction = reduction_of(c), .log_target = c.get("log_target", false)}),
      LOSS_LAYER(binary_cross_entropy,
                 {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = {}}),
      LOSS_LAYER(binary_cross_entropy_with_logits,
                 {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = in["pos_weight"]}),
      LOSS_LAYER(nll_loss, {.weight = in["weight"],
                            .ignore_index = c.get("ignore_index", -100),
                            .reduction = reduction_of(c)}),
      LOSS_LAYER(cross_entropy, {.weight = in["weight"],
                                 .ignore_index = c.get("ignore_index", -100),
                                 .reduction = reduction_of(c),
                                 .label_smoothing = c.get("label_smoothing", 0.0)}),
  };
  return table;
}

}  // namespace heed::parity
