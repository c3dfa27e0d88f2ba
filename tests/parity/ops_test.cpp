// Every operator against reference values and gradients. All `core` cases of ops.json must pass, and all of
// the `extended` tier except for the operators listed here as not offered.

#include <sstream>

#include "tests/parity/nn_cases.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/rounding.h"
#include "autograd/ops/scan.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/functional.h"
#include "tests/support/expect.h"

using parity::Json;

namespace {

// A tensor of the case and the name of its expected gradient.
struct Leaf {
  std::string name;
  Tensor tensor;
  std::string grad;
};

// Replaces {"value": v} by v, also in lists.
Json plain(Json arguments) {
  for (Json& argument : arguments) {
    if (argument.contains("list")) argument["list"] = plain(argument["list"]);
    if (argument.contains("value")) argument = Json(argument["value"]);
  }
  return arguments;
}

// The arguments of one case by name. Missing and null arguments have PyTorch's defaults; arguments that are
// never read are errors.
class Arguments : public parity::Fields {
 public:
  Arguments(const parity::Cases& cases, const Json& json) : Fields("argument", plain(json)), cases_(cases) {}

  // Allows an argument that has no effect in heed.
  Arguments& ignoring(const char* name) { return has(name), *this; }
  Tensor tensor(const char* name) { return has(name) ? make((*this)[name], name) : Tensor(); }
  Operand operand(const char* name) {
    if (!has(name)) return {};
    const Json& argument = (*this)[name];
    return argument.is_object() ? Operand(make(argument, name)) : Operand(parity::number(argument));
  }
  Tensors tensors(const char* name) {
    Tensors made;
    for (const Json& item : (*this)[name].at("list")) made.push_back(make(item, name));
    return made;
  }
  int64_t integer(const char* name) { return (*this)[name].get<int64_t>(); }
  Shape sizes(const char* name) {  // a list, or one number
    if (!(*this)[name].is_array()) return {integer(name)};
    return (*this)[name].get<std::vector<int64_t>>();
  }
  Dims dims(const char* name) { return has(name) ? Dims(sizes(name)) : Dims(); }

  Tensor make(const Json& json, const char* name) {
    Tensor x = cases_.tensor(json.at("tensor"));
    if (json.contains("grad")) {
      x.requires_grad_();
      leaves.push_back({name, x, json["grad"]});
    }
    for (const Json& step : json.value("view", Json::array())) {
      const std::string kind = step.at(0);
      const auto at = [&](size_t i) { return step.at(i).get<int64_t>(); };
      check(kind == "transpose" || kind == "slice", "unknown view ", kind);
      x = kind == "transpose" ? transpose(x, at(1), at(2)) : heed::slice(x, at(1), at(2), at(3), at(4));
    }
    return x;
  }

  std::vector<Leaf> leaves;

 private:
  const parity::Cases& cases_;
};

// A nested list of numbers or bools as a tensor of positions or a mask.
Tensor positions(const Json& json) {
  Shape shape;
  const Json* inner = &json;
  for (; inner->is_array(); inner = &inner->at(0)) {
    shape.push_back(static_cast<int64_t>(inner->size()));
    if (inner->empty()) return Tensor::empty(shape, int64);
  }
  const bool mask = inner->is_boolean();
  Values numbers;
  const std::function<void(const Json&)> read = [&](const Json& part) {
    if (part.is_array())
      for (const Json& item : part) read(item);
    else
      numbers.push_back(mask ? part.get<bool>() : part.get<double>());
  };
  read(json);
  check(static_cast<int64_t>(numbers.size()) == numel(shape), "ragged index ", json.dump());
  return from_vector(numbers, shape, mask ? boolean : int64);
}

Index index_item(Arguments& a, const Json& json) {
  const auto maybe = [](const Json& bound) {
    return bound.is_null() ? std::nullopt : std::optional(bound.get<int64_t>());
  };
  if (json.contains("tensor")) return a.make(json, "index");
  if (json.contains("ellipsis")) return ellipsis;
  if (json.contains("slice")) {
    const Json& slice = json["slice"];
    return Slice{maybe(slice.at(0)), maybe(slice.at(1)), maybe(slice.at(2)).value_or(1)};
  }
  if (json.is_null()) return new_axis;
  if (json.is_number_integer()) return json.get<int64_t>();
  check(json.is_array(), "unknown index ", json.dump());
  return positions(json);
}

std::vector<Index> index_items(Arguments& a) {
  if (!a.has("index")) return {new_axis};
  const Json& json = a["index"];
  const bool several = json.is_array() && !json.empty() && json[0].is_array();
  if (!several && !json.contains("list")) return {index_item(a, json)};
  std::vector<Index> items;
  for (const Json& item : several ? json : json["list"]) items.push_back(index_item(a, item));
  return items;
}

using Outputs = Tensors;
using Call = std::function<Outputs(Arguments&)>;

Outputs both(const ValuesIndices& result) { return {result.values, result.indices}; }

Outputs split_of(Arguments& a, const char* sizes) {
  const Tensor x = a.tensor("input");
  const int64_t dim = a.get("dim", 0);
  return a[sizes].is_array() ? split(x, a.sizes(sizes), dim) : split(x, a.integer(sizes), dim);
}

// var and std: `unbiased` means a correction of 1 or 0.
template <class F>
Call spread(F f) {
  return [f](Arguments& a) -> Outputs {
    const double correction = a.get("correction", a.get("unbiased", true) ? 1.0 : 0.0);
    return {f(a.tensor("input"), a.dims("dim"), correction, a.get("keepdim", false))};
  };
}

// Calls a loss like the cases of nn.json.
Outputs loss(Arguments& a, const char* name) {
  std::map<std::string, Tensor> tensors;
  for (const char* input : {"input", "target", "weight", "pos_weight"})
    if (a.has(input)) tensors[input] = a.tensor(input);
  const parity::Inputs inputs(tensors);
  Outputs outputs = parity::layers().at(name)(a, a).call(inputs);
  inputs.check_all_asked();
  return outputs;
}

Outputs attention(Arguments& a) {
  a.get("need_attn_weights", false);  // the cases always need them
  check(a.get("dropout_p", 0.0) == 0, "dropout_p must be 0");
  F::AttentionOptions options{.is_causal = a.get("is_causal", false), .need_weights = true};
  const Tensor mask = a.tensor("attn_mask");
  if (mask.defined() && mask.dtype() == boolean)
    options.mask = mask;
  else
    options.bias = mask;
  options.scale = a.optional<double>("scale");
  const AttentionResult result =
      F::scaled_dot_product_attention(a.tensor("input"), a.tensor("key"), a.tensor("value"), options);
  return {result.output, result.weights};
}

// An argument with a number or a list; the default if it is missing or an empty list.
Dims list_or(Arguments& a, const char* name, const Dims& otherwise) {
  const Dims list = a.dims(name);
  return list.empty() ? otherwise : list;
}

ConvOptions conv_options(Arguments& a) {
  ConvOptions o{.stride = list_or(a, "stride", 1), .dilation = list_or(a, "dilation", 1)};
  o.groups = a.get("groups", 1);
  o.output_padding = list_or(a, "output_padding", 0);
  if (a.has("padding") && a["padding"].is_string())
    o.padding = Padding(a["padding"].get<std::string>().c_str());
  else
    o.padding = Padding(Shape(list_or(a, "padding", 0)));
  return o;
}

Call convolution(Tensor (*f)(Operand, Operand, Operand, const ConvOptions&)) {
  return [f](Arguments& a) -> Outputs {
    return {f(a.operand("input"), a.operand("weight"), a.operand("bias"), conv_options(a))};
  };
}

Call max_pooling(Tensor (*f)(Operand, const Dims&, const MaxPoolOptions&)) {
  return [f](Arguments& a) -> Outputs {
    check(!a.get("return_indices", false), "max_pool: heed returns no indices");
    return {f(
        a.operand("input"), a.dims("kernel_size"),
        {a.dims("stride"), list_or(a, "padding", 0), list_or(a, "dilation", 1), a.get("ceil_mode", false)})};
  };
}

Call mean_pooling(Tensor (*f)(Operand, const Dims&, const AvgPoolOptions&)) {
  return [f](Arguments& a) -> Outputs {
    return {f(a.operand("input"), a.dims("kernel_size"),
              {a.dims("stride"), list_or(a, "padding", 0), a.get("ceil_mode", false),
               a.get("count_include_pad", true), a.optional<int64_t>("divisor_override")})};
  };
}

// clang-format off
#define UNARY(op) {#op, [](Arguments& a) -> Outputs { return {op(a.tensor("input"))}; }}
#define BINARY(op) {#op, [](Arguments& a) -> Outputs { return {op(a.operand("input"), a.operand("other"))}; }}
#define REDUCTION(op) \
  {#op, [](Arguments& a) -> Outputs { return {op(a.tensor("input"), a.dims("dim"), a.get("keepdim", false))}; }}
#define EXTREME(op, pair) \
  {#op, [](Arguments& a) -> Outputs { \
     const Tensor x = a.tensor("input"); \
     if (a.has("other")) return {pair(x, a.operand("other"))}; \
     return a.has("dim") ? both(op(x, a.integer("dim"), a.get("keepdim", false))) : Outputs{op(x)}; \
   }}
#define LOSS(op) {#op, [](Arguments& a) { return loss(a, #op); }}
#define CALL(...) [](Arguments& a) -> Outputs { return __VA_ARGS__; }

const std::map<std::string, Call>& operators() {
  static const std::map<std::string, Call> table = {
      UNARY(abs), UNARY(cos), UNARY(erf), UNARY(exp), UNARY(expm1), UNARY(floor), UNARY(isfinite), UNARY(isnan),
      UNARY(log), UNARY(log1p), UNARY(logical_not), UNARY(neg), UNARY(reciprocal), UNARY(relu), UNARY(rsqrt),
      UNARY(sigmoid), UNARY(sign), UNARY(silu), UNARY(sin), UNARY(sqrt), UNARY(square), UNARY(t), UNARY(tanh),
      BINARY(bmm), BINARY(dot), BINARY(eq), BINARY(ge), BINARY(gt), BINARY(le), BINARY(logical_and),
      BINARY(logical_or), BINARY(lt), BINARY(matmul), BINARY(maximum), BINARY(minimum), BINARY(mm), BINARY(mul),
      BINARY(ne),
      REDUCTION(all), REDUCTION(amax), REDUCTION(amin), REDUCTION(any), REDUCTION(logsumexp), REDUCTION(mean),
      REDUCTION(sum),

      {"add", CALL({add(a.operand("input"), a.operand("other"), a.get("alpha", 1.0))})},
      {"sub", CALL({sub(a.operand("input"), a.operand("other"), a.get("alpha", 1.0))})},
      {"div", CALL({div(a.operand("input"), a.operand("other"),
                        a.choice<Rounding>("rounding_mode", {{"none", Rounding::none}, {"floor", Rounding::floor},
                                                             {"trunc", Rounding::trunc}}))})},
      {"pow", CALL({pow(a.operand("input"), a.operand("exponent"))})},
      {"where", CALL({where(a.tensor("condition"), a.operand("input"), a.operand("other"))})},
      {"masked_fill", CALL({masked_fill(a.tensor("input"), a.tensor("mask"), a.operand("value"))})},
      {"clamp", CALL({clamp(a.tensor("input"), a.operand("min"), a.operand("max"))})},
      {"elu", CALL({elu(a.tensor("input"), a.get("alpha", 1.0))})},
      {"leaky_relu", CALL({leaky_relu(a.tensor("input"), a.get("negative_slope", 0.01))})},
      {"softplus", CALL({softplus(a.tensor("input"), a.get("beta", 1.0), a.get("threshold", 20.0))})},
      {"gelu", CALL({gelu(a.tensor("input"),
                          a.choice<Gelu>("approximate", {{"none", Gelu::none}, {"tanh", Gelu::tanh}}))})},

      EXTREME(max, maximum), EXTREME(min, minimum),
      {"var", spread([](const auto&... all) { return var(all...); })},
      {"std", spread([](const auto&... all) { return heed::stddev(all...); })},
      {"prod", [](Arguments& a) -> Outputs {
         const Tensor x = a.tensor("input");
         const bool keepdim = a.get("keepdim", false);
         return {a.has("dim") ? prod(x, a.integer("dim"), keepdim) : prod(x)};
       }},
      {"argmax", CALL({argmax(a.tensor("input"), a.optional<int64_t>("dim"), a.get("keepdim", false))})},
      {"argmin", CALL({argmin(a.tensor("input"), a.optional<int64_t>("dim"), a.get("keepdim", false))})},
      {"cumsum", CALL({cumsum(a.tensor("input"), a.integer("dim"))})},
      {"softmax", CALL({softmax(a.tensor("input"), a.integer("dim"))})},
      {"log_softmax", CALL({log_softmax(a.tensor("input"), a.integer("dim"))})},
      {"layer_norm", CALL({layer_norm(a.tensor("input"), a.sizes("normalized_shape"), a.tensor("weight"),
                                      a.tensor("bias"), a.get("eps", 1e-5))})},

      {"mv", CALL({mv(a.tensor("input"), a.tensor("vec"))})},
      {"outer", CALL({outer(a.tensor("input"), a.tensor("vec2"))})},
      {"addmm", CALL({addmm(a.tensor("input"), a.tensor("mat1"), a.tensor("mat2"), a.get("beta", 1.0),
                            a.get("alpha", 1.0))})},
      {"einsum", CALL({einsum(a["equation"].get<std::string>(), a.tensors("tensors"))})},
      {"linear", CALL({linear(a.tensor("input"), a.tensor("weight"), a.tensor("bias"))})},

      {"transpose", CALL({transpose(a.tensor("input"), a.integer("dim0"), a.integer("dim1"))})},
      {"permute", CALL({permute(a.tensor("input"), a.sizes("dims"))})},
      {"reshape", CALL({reshape(a.tensor("input"), a.sizes("shape"))})},
      {"view", CALL({view(a.tensor("input"), a.sizes("shape"))})},
      {"expand", CALL({expand(a.tensor("input"), a.sizes("shape"))})},
      {"broadcast_to", CALL({broadcast_to(a.tensor("input"), a.sizes("shape"))})},
      {"squeeze", CALL({squeeze(a.tensor("input"), a.dims("dim"))})},
      {"unsqueeze", CALL({unsqueeze(a.tensor("input"), a.integer("dim"))})},
      {"flatten", CALL({flatten(a.tensor("input"), a.get("start_dim", 0), a.get("end_dim", -1))})},
      {"narrow", CALL({narrow(a.tensor("input"), a.integer("dim"), a.integer("start"), a.integer("length"))})},
      {"select", CALL({select(a.tensor("input"), a.integer("dim"), a.integer("index"))})},
      {"split", [](Arguments& a) { return split_of(a, "split_size"); }},
      {"chunk", CALL(chunk(a.tensor("input"), a.integer("chunks"), a.get("dim", 0)))},
      {"cat", CALL({cat(a.tensors("tensors"), a.get("dim", 0))})},
      {"stack", CALL({stack(a.tensors("tensors"), a.get("dim", 0))})},
      {"flip", CALL({flip(a.tensor("input"), a.sizes("dims"))})},
      {"repeat", CALL({repeat(a.tensor("input"), a.sizes("sizes"))})},
      {"tril", CALL({tril(a.tensor("input"), a.get("diagonal", 0))})},
      {"triu", CALL({triu(a.tensor("input"), a.get("diagonal", 0))})},
      {"pad", [](Arguments& a) -> Outputs {
         check(a.get<std::string>("mode", "constant") == "constant", "pad: only constant is in this tier");
         return {pad(a.tensor("input"), a.sizes("pad"), a.get("value", 0.0))};
       }},

      {"getitem", CALL({heed::index(a.tensor("input"), index_items(a))})},
      {"gather", CALL({gather(a.ignoring("sparse_grad").tensor("input"), a.integer("dim"), a.tensor("index"))})},
      {"index_select", CALL({index_select(a.tensor("input"), a.integer("dim"), a.tensor("index"))})},
      {"scatter_add", CALL({scatter_add(a.tensor("input"), a.integer("dim"), a.tensor("index"), a.tensor("src"))})},
      {"embedding", CALL({embedding(a.tensor("input"), a.tensor("index"), a.optional<int64_t>("padding_idx"))})},
      {"one_hot", CALL({one_hot(a.tensor("input"), a.get("num_classes", -1))})},
      // heed's results are always sorted and stable
      {"topk", CALL(both(topk(a.ignoring("sorted").tensor("input"), a.integer("k"), a.get("dim", -1),
                              a.get("largest", true))))},
      {"sort", CALL(both(sort(a.ignoring("stable").tensor("input"), a.get("dim", -1), a.get("descending", false))))},
      {"argsort", CALL({argsort(a.ignoring("stable").tensor("input"), a.get("dim", -1),
                                a.get("descending", false))})},

      LOSS(mse_loss), LOSS(l1_loss), LOSS(smooth_l1_loss), LOSS(huber_loss), LOSS(kl_div), LOSS(binary_cross_entropy),
      LOSS(binary_cross_entropy_with_logits), LOSS(nll_loss), LOSS(cross_entropy),
      {"scaled_dot_product_attention", attention},

      // Extended tier: convolutions, pooling, norms of channels.
      {"conv1d", convolution(conv1d)}, {"conv2d", convolution(conv2d)},
      {"conv_transpose1d", convolution(conv_transpose1d)},
      {"conv_transpose2d", convolution(conv_transpose2d)},
      {"max_pool1d", max_pooling(max_pool1d)}, {"max_pool2d", max_pooling(max_pool2d)},
      {"avg_pool1d", mean_pooling(avg_pool1d)}, {"avg_pool2d", mean_pooling(avg_pool2d)},
      {"unfold", CALL({unfold(a.operand("input"), a.dims("kernel_size"), conv_options(a))})},
      {"fold", CALL({fold(a.operand("input"), a.dims("output_size"), a.dims("kernel_size"), conv_options(a))})},
      {"batch_norm", CALL({batch_norm(a.operand("input"), a.tensor("running_mean"), a.tensor("running_var"),
                                      a.operand("weight"), a.operand("bias"), a.get("training", false),
                                      a.get("momentum", 0.1), a.get("eps", 1e-5))})},
      {"group_norm", CALL({group_norm(a.operand("input"), a.integer("num_groups"), a.operand("weight"),
                                      a.operand("bias"), a.get("eps", 1e-5))})},

      // Extended tier: indices, rounding, scans.
      UNARY(ceil), UNARY(isinf), UNARY(log2), UNARY(nonzero), BINARY(atan2), BINARY(fmod),
      {"round", CALL({round(a.tensor("input"), a.get("decimals", 0))})},
      {"cumprod", CALL({cumprod(a.tensor("input"), a.integer("dim"))})},
      {"norm", CALL({norm(a.tensor("input"), a.get("p", 2.0), a.dims("dim"), a.get("keepdim", false))})},
      {"vector_norm", CALL({norm(a.tensor("input"), a.get("ord", 2.0), a.dims("dim"), a.get("keepdim", false))})},
      {"roll", CALL({roll(a.tensor("input"), a.dims("shifts"), a.dims("dims"))})},
      {"meshgrid", CALL(meshgrid(a.tensors("tensors"), a.choice<GridIndexing>("indexing", {{"ij", GridIndexing::ij},
                                                                                           {"xy", GridIndexing::xy}})))},
      {"diag", CALL({diag(a.tensor("input"), a.get("diagonal", 0))})},
      {"repeat_interleave", CALL({repeat_interleave(a.tensor("input"), a.operand("repeats"), a.optional<int64_t>("dim"))})},
      {"scatter", CALL({scatter(a.tensor("input"), a.integer("dim"), a.tensor("index"), a.operand("src"))})},
      {"index_add", CALL({index_add(a.tensor("input"), a.integer("dim"), a.tensor("index"), a.tensor("source"),
                                    a.get("alpha", 1.0))})},
      {"masked_select", CALL({masked_select(a.tensor("input"), a.tensor("mask"))})},

      // Other names of existing operators.
      {"T", CALL({t(a.tensor("input"))})},
      {"mT", [](Arguments& a) -> Outputs {
         const Tensor x = a.tensor("input");
         return {x.dim() < 2 ? t(x) : transpose(x)};
       }},
      {"ravel", CALL({flatten(a.tensor("input"))})},
      {"split_with_sizes", [](Arguments& a) { return split_of(a, "sizes"); }},
  };
  return table;
}

// Operators of the extended tier that heed does not offer: one or two lines of other operators, or not needed for
// neural networks.
const std::set<std::string> not_offered = [] {
  std::istringstream names(R"(
    acos acosh addbmm addcdiv addcmul addmv addr aminmax arccos arcsin arctan argwhere asin asinh atan
    atanh baddbmm bilinear bincount bitwise_and bitwise_not bitwise_or bitwise_xor
    block_diag bucketize cartesian_prod cauchy cdist celu cholesky clamp_max clamp_min combinations
    copysign corrcoef cosh cosine_embedding_loss cosine_similarity count_nonzero cov cross
    cummax cummin cumulative_trapezoid deg2rad det diag_embed diagflat diagonal diff digamma
    dist dsplit dstack erfc erfinv exp2 expand_as float_power fmax fmin frac gaussian_nll_loss gcd
    ger glu hardshrink hardsigmoid hardswish hardtanh heaviside hinge_embedding_loss histc
    hsplit hstack hypot igamma index_copy index_fill index_put inner instance_norm inv isclose
    isneginf isposinf kron kthvalue lcm ldexp lerp lgamma linspace log10 logaddexp logaddexp2
    logcumsumexp logdet logical_xor logit logsigmoid logspace margin_ranking_loss masked_scatter
    matrix_exp matrix_power median mish mode moveaxis movedim
    msort multi_dot multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss mvlgamma
    nan_to_num nanmean nanmedian nansum narrow_copy negative nextafter normalize ones_like
    pairwise_distance pixel_shuffle poisson_nll_loss polar polygamma positive prelu put quantile rad2deg
    relu6 remainder renorm resize rot90 rrelu rsub scatter_reduce
    searchsorted selu sgn sinc sinh soft_margin_loss softmin softshrink softsign special_erf std_mean
    swapaxes swapdims take take_along_dim tan tanhshrink tensordot threshold tile trace trapezoid trapz
    tril_indices triplet_margin_loss true_divide trunc unbind unflatten unique vander var_mean vdot
    view_as vsplit vstack xlogy zeros_like zeta)");
  return std::set<std::string>(std::istream_iterator<std::string>(names), {});
}();
// clang-format on

std::string run(const parity::Cases& cases, const Json& json) {
  const std::string op = json.at("op"), tier = json.at("tier");
  check(tier == "core" || tier == "extended", "tier ", tier, " is not known");
  const auto call = operators().find(op);
  if (call == operators().end()) {
    check(tier == "extended" && not_offered.contains(op), "operator ", op, " is not known");
    return "";
  }
  Arguments arguments(cases, json.at("args"));
  const Outputs outputs = call->second(arguments);
  arguments.check_all_asked();

  parity::Differences differences(cases, json);
  differences.outputs(outputs);
  for (const Leaf& leaf : arguments.leaves) {
    const Tensor grad = leaf.tensor.grad();
    differences.compare("gradient of " + leaf.name, grad.defined() ? grad : zeros_like(leaf.tensor),
                        leaf.grad);
  }
  return differences.text();
}

Texts findings(const parity::Cases& cases) {
  return parity::findings(cases, [&](const Json& one) { return run(cases, one); });
}

}  // namespace

TEST_CASE("operators: reference values and gradients") {
  const parity::Cases cases("ops.json");
  CHECK(cases.size() > 0);
  for (const std::string& finding : findings(cases)) FAIL_CHECK(finding);
  for (const std::string& op : not_offered) CHECK_MESSAGE(!operators().contains(op), op, " is offered");
}

TEST_CASE("operators: unknown fields of a reference case are errors") {
  const Json good =
      Json::parse(R"({"id": "case", "tier": "core", "op": "sum", "dtype": "F64", "tags": ["broadcast"],
      "args": {"input": {"tensor": "x"}, "dim": {"value": 0}}, "outputs": [{"tensor": "y"}],
      "tol": {"rtol": 0, "atol": 0}})");
  const auto wrong = [&](const char* patch) {
    Json one = good;
    one.merge_patch(Json::parse(patch));
    const auto found =
        findings({{{"cases", {one}}}, {{"x", full({2}, 1, float64)}, {"y", full({}, 2, float64)}}});
    return found.empty() ? "" : found.at(0);
  };
  CHECK(wrong("{}") == "");
  CHECK(wrong(R"({"op": "summ"})") == "case: operator summ is not known");
  CHECK(wrong(R"({"op": "acos"})") == "case: operator acos is not known");  // not in the core tier
  CHECK(wrong(R"({"op": "acos", "tier": "extended"})") == "");
  CHECK(wrong(R"({"tier": "rare"})") == "case: tier rare is not known");
  CHECK(wrong(R"({"tags": ["sparse"]})") == "case: tag sparse is not known");
  CHECK(wrong(R"({"dtype": "F16"})") == "case: dtype F16 is not known");
  CHECK(wrong(R"({"args": {"out": {"tensor": "y"}}})") == "case: argument out is not known");
  CHECK(wrong(R"({"args": {"input": {"tensor": "x", "view": [["flip", 0]]}}})") == "case: unknown view flip");
  CHECK(wrong(R"({"args": {"input": {"tensor": "z"}}})") == "case: parity: there is no tensor z");
  CHECK(wrong(R"({"outputs": [{"tensor": "y"}, {"tensor": "y"}]})") == "case: 1 outputs instead of 2");
  CHECK(wrong(R"({"args": {"dim": null}, "outputs": [{"tensor": "x"}]})") ==
        "case: \n    output 0 shape is [] and must be [2]");
}
