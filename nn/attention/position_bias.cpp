#include "nn/attention/position_bias.h"

#include "autograd/ops/attention.h"
#include "autograd/ops/basic.h"
#include "nn/attention/position.h"

namespace heed {

static int64_t checked_count(const char* what, const char* name, int64_t value) {
  check_in(what, value > 0, name, " is ", value, "; it must be positive");
  return value;
}

static double root_of_width(const Tensor& q) { return std::sqrt(static_cast<double>(q.size(-1))); }

AlibiBias::AlibiBias(int64_t num_heads) {
  const auto heads = static_cast<double>(checked_count("AlibiBias", "num_heads", num_heads));
  const double power = std::exp2(std::floor(std::log2(heads)));
  while (std::ssize(slopes) < num_heads) {
    const auto h = static_cast<double>(slopes.size() + 1);
    slopes.push_back(std::exp2(-8 / power * (h <= power ? h : h - power - 0.5)));
  }
}

Tensor AlibiBias::operator()(const Tensor& distances) const {
  return -from_vector(slopes, {std::ssize(slopes), 1}, distances.dtype()) * abs(distances);
}

T5Bias::T5Bias(int64_t num_heads, T5BiasOptions options)
    : options(options), relative_attention_bias(init::zeros({options.num_buckets, num_heads})) {
  bucket(zeros({1}), options);  // checks the options
}

Tensor T5Bias::bucket(const Tensor& distances, const T5BiasOptions& options) {
  const int64_t buckets = options.bidirectional ? options.num_buckets / 2 : options.num_buckets,
                exact = buckets / 2;
  check_in("T5Bias", exact > 0 && options.max_distance > exact, "num_buckets is ", options.num_buckets,
           ", max_distance ", options.max_distance,
           "; there must be 2, or 4 if bidirectional, and max_distance ",
           "must be above the number of exact ones, ", exact);
  const Tensor d = to(distances, float64);
  const Tensor size = options.bidirectional ? abs(d) : maximum(-d, 0);
  const double range = std::log(static_cast<double>(options.max_distance) / static_cast<double>(exact));
  const Tensor far = exact + log(maximum(size, exact) / exact) / range * (buckets - exact);
  const Tensor bucket = to(where(size < exact, size, minimum(far, buckets - 1)), int64);
  return options.bidirectional ? where(d > 0, bucket + buckets, bucket) : bucket;
}

Tensor T5Bias::operator()(const Tensor& distances) const {
  return t(relative_attention_bias(bucket(distances, options)));
}

Tensor local_bias(Operand centers, int64_t keys, double sigma) {
  const OpScope scope("local_bias", centers.line());
  check_floating(centers);
  check(sigma > 0, "sigma is ", sigma, "; it must be positive");
  return square(arange(keys, centers->dtype()) - unsqueeze(centers, -1)) * (-0.5 / (sigma * sigma));
}

ShawScore::ShawScore(int64_t head_dim, int64_t max_distance)
    : relative_keys(init::normal({2 * checked_count("ShawScore", "max_distance", max_distance) + 1, head_dim},
                                 0, 0.02)) {}

Tensor ShawScore::operator()(const Tensor& q, const Tensor&, const Tensor& distances) const {
  const int64_t most = relative_keys.size(0) / 2;
  const Tensor row = to(clamp(distances, -most, most) + most, int64);
  const Tensor keys = index_select(relative_keys, 0, row);  // [N, D]
  return relative_shift(matmul(q / root_of_width(q), t(keys)));
}

TransformerXLScore::TransformerXLScore(int64_t embed_dim, int64_t num_heads)
    : r_net(embed_dim, embed_dim, {.bias = false}),
      r_w_bias(
          init::zeros({num_heads, embed_dim / checked_count("TransformerXLScore", "num_heads", num_heads)})),
      r_r_bias(init::zeros(r_w_bias.shape())) {}

Tensor TransformerXLScore::operator()(const Tensor& q, const Tensor& k, const Tensor& distances) const {
  const int64_t E = r_net.in_features();
  const Tensor angle = detail::angles(-distances, E);
  const Tensor R = to(narrow(cat({sin(angle), cos(angle)}, 1), 1, 0, E), q.dtype());       // [N, E]
  const Tensor r = permute(view(r_net(R), {R.size(0), q.size(1), q.size(3)}), {1, 2, 0});  // [H, D, N]
  const Tensor of_distance = relative_shift(matmul(q + unsqueeze(r_r_bias, 1), r));
  return (of_distance + matmul(unsqueeze(r_w_bias, 1), transpose(k))) / root_of_width(q);
}

}  // namespace heed
