#include "examples/guide/diagrams.h"

#include <algorithm>

#include "examples/guide/diagrams_attention.h"
#include "examples/guide/diagrams_autograd.h"
#include "examples/guide/diagrams_form_weights.h"
#include "examples/guide/diagrams_forms.h"
#include "examples/guide/diagrams_heads.h"
#include "examples/guide/diagrams_pooling.h"
#include "examples/guide/diagrams_sequences.h"
#include "examples/guide/diagrams_transformer.h"
#include "tensor/error.h"

namespace program {

namespace {

struct Diagram {
  std::string name;  // of the file, without .svg
  void (*draw)(drawing::Picture&);
  drawing::Words sentence;
};

const std::vector<Diagram>& all_diagrams() {
  static const std::vector<Diagram> all = {
      {"cues",
       drawing::cues,
       {"A volitional cue is compared with the nonvolitional cues of a cup, a pen and a book, and the book "
        "is "
        "noticed; in the same way a query is compared with keys, and the output is a weighted sum of values.",
        "自主性提示与杯子、笔、书各自的非自主性提示相比较，书于是受到注意；同样，查询与各个键相比较，输出是值"
        "的"
        "加权和。"}},
      {"query_key_value",
       drawing::query_key_value,
       {"A query is compared with three keys; softmax turns the scores into weights, and the output is the "
        "weighted sum of the values.",
        "查询与三个键相比较，softmax 把评分变成权重，输出是值的加权和。"}},
      {"kernel_weights",
       drawing::kernel_weights,
       {"A kernel around the query x gives near points large weights and far points small ones.",
        "以查询 x 为中心的核函数给近处的点较大的权重，给远处的点较小的权重。"}},
      {"self_attention",
       drawing::self_attention,
       {"X is mapped to Q, K and V; the scores S are the scaled products of Q and K, softmax turns them into "
        "the "
        "weights A, and the output Z is A times V.",
        "X 经线性变换得到 Q、K、V；缩放后的乘积给出评分 S，softmax 把它变成权重 A，输出 Z 等于 A 乘 V。"}},
      {"softmax_saturation",
       drawing::softmax_saturation,
       {"The softmax of five scores is nearly even; the softmax of eight times the same scores is nearly "
        "one-hot.",
        "五个评分的 softmax 接近均匀；同样的评分乘以 8，softmax 就接近独热。"}},
      {"four_to_four",
       drawing::four_to_four,
       {"Four inputs and four outputs: every output is a weighted sum of all inputs, or, with a causal mask, "
        "of the "
        "inputs up to its own position. Thick lines are large weights.",
        "四个输入和四个输出：每个输出是所有输入的加权和；加上因果掩码，则只对自己及之前的输入加权求和。线越粗"
        "，权重越大。"}},
      {"planted_relation",
       drawing::planted_relation,
       {"Hidden points z on a circle are turned by R to become queries and shifted by m to become keys; a "
        "line joins "
        "each query to its key.",
        "圆上的隐藏点 z 旋转 R 得到查询，平移 m 得到键；每条线连接一个查询和属于它的键。"}},
      {"online_softmax",
       drawing::online_softmax,
       {"Blocks of keys are processed one after another; only the running maximum m, the sum l and the "
        "output o are "
        "kept, and both are rescaled when the maximum grows.",
        "键按块依次处理，只保留当前的最大值 m、和 l、输出 o；最大值变大时，l 和 o 都要重新缩放。"}},
      {"unrolled_recurrence",
       drawing::unrolled_recurrence,
       {"A recurrent network unrolled in time: the same function f is applied at each of four steps.",
        "循环网络按时间展开：四步中的每一步都用同一个函数 f。"}},
      {"one_context",
       drawing::one_context,
       {"The encoder packs the whole sentence into one context vector c, which the decoder uses for every "
        "word.",
        "编码器把整个句子压缩成一个上下文向量 c，解码器写每个词时都用它。"}},
      {"context_for_each_word",
       drawing::context_for_each_word,
       {"Every output word has a context vector of its own: a weighted sum of the encoder's states.",
        "每个输出词都有自己的上下文向量：编码器各状态的加权和。"}},
      {"multi_head",
       drawing::multi_head,
       {"Three heads have queries, keys and values of their own; their outputs are joined and multiplied by "
        "W_O.",
        "三个头各有自己的查询、键和值；它们的输出拼接起来，再乘以 W_O。"}},
      {"masks",
       drawing::masks,
       {"Padding mask, causal mask and window mask; forbidden cells are hatched.",
        "填充掩码、因果掩码和窗口掩码；禁止关注的格子画有斜线。"}},
      {"key_value_cache",
       drawing::key_value_cache,
       {"At step five a decoder without a cache computes all keys, values and 25 scores; with a cache it "
        "computes one "
        "key, one value and five scores.",
        "写第五个词时，不用缓存要计算全部键、值和 25 个评分；用缓存只需计算一个键、一个值和 5 个评分。"}},
      {"position_added",
       drawing::position_added,
       {"Two sentences of the same words in another order have the same word vectors; adding position "
        "vectors makes "
        "the inputs differ.",
        "两个句子用词相同而词序不同，词向量完全相同；加上位置向量，输入就不同了。"}},
      {"rotary",
       drawing::rotary,
       {"Each pair of coordinates is turned by an angle that grows with the position; the angle between a "
        "query and a "
        "key depends only on their distance.",
        "每一对坐标都旋转一个随位置增大的角度；查询与键的夹角只取决于它们的距离。"}},
      {"layer_norm",
       drawing::layer_norm,
       {"A layer norm standardizes the features of one word, a batch norm one feature of all words; "
        "below, the "
        "numbers of a word before and after.",
        "层归一化对一个词的各个特征做标准化，批量归一化对所有词的同一个特征做标准化；下面是一个词前后的数值"
        "。"}},
      {"transformer_block",
       drawing::transformer_block,
       {"Attention and feed-forward network with residual connections: the norm comes after each sum, or "
        "before each "
        "sublayer.",
        "注意力与前馈网络都有残差连接：归一化放在每次相加之后，或放在每个子层之前。"}},
      {"transformer_stack",
       drawing::transformer_stack,
       {"A transformer: the encoder's result is the source of keys and values for the cross-attention of "
        "every decoder "
        "layer; the decoder's result becomes the next word.",
        "Transformer：编码器的结果为解码器每一层的交叉注意力提供键和值，解码器的结果给出下一个词。"}},
      {"computation_graph",
       drawing::computation_graph,
       {"Values flow forward from x through a and b to y; gradients flow back along the same edges, and the "
        "two that "
        "arrive at a are added.",
        "值从 x 经 a、b 前向传到 y；梯度沿同样的边反向传播，到达 a 的两个梯度相加。"}},
      {"shared_heads",
       drawing::shared_heads,
       {"Four heads of queries have four heads of keys and values, share two, share one, or share a latent "
        "vector from which keys and values are computed.",
        "四个头的查询各有自己的键和值，或两个一组共用，或全部共用一份，或共用一个潜向量，键和值由它算出。"}},
      {"bounded_scores",
       drawing::bounded_scores,
       {"A soft cap bends large scores toward c. The weights of softmax sum to 1 even if no key fits; "
        "sigmoids do not.",
        "软上限把大的评分压向 c。即使没有键匹配，softmax 的权重之和仍是 1，而各自独立的 sigmoid 则不是。"}},
      {"position_bias",
       drawing::position_bias,
       {"ALiBi lowers the score in proportion to the distance, with another slope in each head; T5 has one "
        "number for each bucket of distances, and far buckets are wide.",
        "ALiBi 按距离成比例地降低评分，每个头斜率不同；T5 给每个距离桶一个数，越远的桶越宽。"}},
      {"longer_rotary",
       drawing::longer_rotary,
       {"At four times the trained length the slowest rotary pair reaches angles never seen; dividing "
        "positions repairs it but crowds the fastest pair; a larger base repairs it and leaves the fastest "
        "pair as it was.",
        "长度是训练时的四倍时，最慢的一对转到从未见过的角度；位置除以 4 "
        "可以补救，但最快的一对会挤在一起；增大基数既能补救，又不影响最快的一对。"}},
      {"sparse_masks",
       drawing::sparse_masks,
       {"Four rules about which keys a query sees: a window with a sink, blocks, every second key, and a "
        "soft neighborhood of a predicted position.",
        "查询可以看哪些键的四种规则：窗口加汇点、分块、每隔一个键、预测位置周围的软邻域。"}},
      {"sparse_weights",
       drawing::sparse_weights,
       {"The weights of four scores: softmax gives all of them some, a sink takes a part, entmax gives three "
        "and sparsemax two of them all.",
        "四个评分的权重：softmax 每个都给一点，汇点拿走一部分，entmax 只给三个，sparsemax 只给两个。"}},
      {"monotonic",
       drawing::monotonic,
       {"Monotonic alignment: each query goes on from the key of the last; on the left the expected weights, "
        "on the right one path, which never goes back.",
        "单调对齐：每个查询从上一个选中的键继续向右；左边是期望权重，右边是一条从不后退的路径。"}},
      {"copy_mixture",
       drawing::copy_mixture,
       {"Probabilities of a generator and probabilities of copying, which are sums of attention weights, are "
        "mixed by a gate.",
        "生成的概率与复制的概率（注意力权重之和）由一个门混合。"}},
      {"state_rules",
       drawing::state_rules,
       {"Three writes, two of them to the same key. The linear rule adds, the gated rule fades, the delta "
        "rules replace.",
        "三次写入，其中两次用同一个键：线性规则相加，门控规则衰减，增量规则替换。"}},
      {"hopfield",
       drawing::hopfield,
       {"States move among three patterns: with a small beta all settle at the mean, with a large one each "
        "at a pattern.",
        "状态在三个模式之间移动：β 小时都停在平均值，β 大时各自停在一个模式上。"}},
      {"differences",
       drawing::differences,
       {"The difference of two softmaxes keeps what only the first has; talking heads mix the weights of "
        "three heads.",
        "两个 softmax 之差只保留第一个独有的部分；互通的头把三个头的权重混合起来。"}},
  };
  return all;
}

}  // namespace

std::string diagram(const std::string& name, const std::string& language) {
  heed::check(language == "en" || language == "zh", "diagram: the language is \"", language,
              "\"; it must be \"en\" or \"zh\"");
  for (const Diagram& found : all_diagrams())
    if (found.name + ".svg" == name) {
      drawing::Picture picture(found.name, language == "zh");
      found.draw(picture);
      return picture.svg(found.sentence);
    }
  heed::fail("diagram: there is no ", name, "; diagrams() lists all names");
}

const std::vector<std::string>& diagrams() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Diagram& diagram : all_diagrams()) all.push_back(diagram.name + ".svg");
    return all;
  }();
  return names;
}

}  // namespace program
