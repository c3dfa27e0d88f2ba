// The C++ programs behind "As C++". Each computes what its bench shows; a test compiles and runs them.

// Numbers as C++ writes them in a program: 0.5, 3.0 as 3.
const cppNumber = value => String(+(+value).toPrecision(6));
const cppList = values => `{${values.map(cppNumber).join(', ')}}`;
// A list broken into lines of at most 100 letters.
function cppLines(values, indent = '      ') {
  const lines = [''];
  for (const [i, value] of values.entries()) {
    const part = cppNumber(value) + (i + 1 < values.length ? ',' : '');
    if ((lines.at(-1) + part).length > 94) lines.push('');
    lines[lines.length - 1] += (lines.at(-1) ? ' ' : '') + part;
  }
  return `{\n${lines.map(line => indent + line).join('\n')}}`;
}

function regressionProgram(bench) {
  const {w, kernel, own, query} = bench.state, learns = kernel !== 1 && kernel !== 4;
  const options = `.kernel = SmoothingKernel::${kernels[kernel]}, .w = ${cppNumber(w)}`;
  const slope = `  loss.backward();
  std::cout << "dL/dw = " << model.w.grad().item() << '\\n';
`;
  return `// regression.cpp: ${bench.word('title')}
#include <heed.h>

#include <iostream>
using namespace heed;

int main() {
  const Tensor x = tensor(${cppLines(bench.points.map(p => p.x))});
  const Tensor y = tensor(${cppLines(bench.points.map(p => p.y))});
  NadarayaWatson model({${options}${learns ? ', .learn = true' : ''}});
  const Tensor query = tensor({${cppNumber(query)}});
  std::cout << "weights " << model.weights(query, x) << '\\n';
  std::cout << "f(q) = " << model(query, x, y).item() << '\\n';

  const Tensor loss = mean(square(model(x, x, y, OwnPoint::${own ? 'keep' : 'exclude'}) - y));
  std::cout << "L(w) = " << loss.item() << '\\n';
${learns ? slope : ''}}
`;
}

// What heed does not have, as entmax.cpp.
const entmaxProgram = `
// max(s_j / 2 - t, 0)^2 with t such that the row sums to 1
Tensor entmax(const Tensor& scores) {
  const Tensor z = scores / 2 - amax(scores / 2, -1, true), sorted = sort(z, -1, true).values;
  const Tensor k = arange(1, sorted.size(-1) + 1), m = cumsum(sorted, -1) / k;
  const Tensor v = cumsum(square(sorted), -1) - k * square(m), t = m - sqrt(where(v < 1, 1 - v, 1) / k);
  const Tensor positive = sum(to(logical_and(v < 1, t <= sorted), int64), -1, true);
  return square(relu(z - gather(t, -1, positive - 1)));
}
`;

function planeProgram(bench) {
  const {score, normalizer, width, query, columns} = bench.state, n = bench.count;
  const turned = width === 2 ? 'matmul(query, W)'
      : `cat({matmul(narrow(query, 1, 0, 2), W), narrow(query, 1, 2, ${width - 2})}, 1)`;
  const cpp = ['matmul(query, transpose(keys))', `matmul(query, transpose(keys)) / std::sqrt(${width}.0)`,
               `sum(tanh(unsqueeze(${turned}, 1) + unsqueeze(keys, 0)), -1)`, `matmul(${turned}, transpose(keys))`,
               '-0.5 * sum(square(unsqueeze(query, 1) - unsqueeze(keys, 0)), -1)'][score];
  const weights = ['softmax(scores, -1)', 'sparsemax(scores)', 'entmax(scores)',
                   'HardNormaliser()(scores, Mask())'][normalizer];
  const further = `  Generator generator(1);
  const Tensor further = to(transpose(randn({${width - 2}, ${n + 1}}, float64, &generator)), float32);
`;
  // A row of the coordinates in the plane and, for d > 2, those beyond it.
  const whole = (rows, first) => width === 2 ? `tensor({${rows.join(', ')}})`
      : `cat({tensor({${rows.join(', ')}}), narrow(further, 0, ${first}, ${rows.length})}, 1)`;
  return `// plane.cpp: ${bench.word('title')}
#include <heed.h>

#include <cmath>
#include <iostream>
using namespace heed;
${normalizer === 2 ? entmaxProgram : ''}
int main() {
${width > 2 ? further : ''}  const Tensor query = ${whole([cppList(query)], 0)};  // [1, ${width}]
  const Tensor keys = ${whole(range(n).map(i => cppList(bench.keyAt(i))), 1)};  // [${n}, ${width}]
  const Tensor W = tensor({${cppList(columns.slice(0, 2))}, ${cppList(columns.slice(2))}});
  const Tensor scores = ${cpp};
  std::cout << "scores  " << scores << '\\n';
  std::cout << "weights " << ${weights} << '\\n';
}
`;
}

function tokensProgram(bench) {
  const {T, now, state: {heads, positions, allowed}, d} = bench, names = [...heads === 1 ? 'QKV' : 'QKVO'];
  const tensorOf = rows => `reshape(tensor(${cppLines(rows.flat())}), {${rows.length}, ${rows[0].length}})`;
  const words = range(T).map(t => bench.wordAt(t)), mask = range(T).map(r => allowed.slice(T * r, T * r + T));
  const split = name => heads === 1 ? name : `transpose(reshape(${name}, {${T}, 2, 1}), 0, 1)`;
  const matrices = names.map(name => `  const Tensor W_${name} = ${tensorOf(now['W' + name])};`).join('\n');
  const joined = heads === 1 ? 'result.output' : `reshape(transpose(result.output, 0, 1), {${T}, 2})`;
  return `// tokens.cpp: ${bench.word('title')}
#include <heed.h>

#include <iostream>
using namespace heed;

int main() {
  const Tensor words = ${tensorOf(words)};
  const Tensor X = ${positions ? `SinusoidalPosition(${d})(words)` : 'words'};
${matrices}
  const Tensor allowed = ${tensorOf(mask)} == 1;
  const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  const AttentionResult result = F::scaled_dot_product_attention(
      ${['Q', 'K', 'V'].map(split).join(',\n      ')},
      {.mask = allowed, .need_weights = true});
  const Tensor Z = ${joined};
  std::cout << "A " << result.weights << '\\n';
  std::cout << "Z " << Z << '\\n';
${heads === 1 ? '' : `  std::cout << "Y " << matmul(Z, W_O) << '\\n';
`}}
`;
}

function lengthProgram(bench) {
  const {scores, values} = bench.state;
  return `// length.cpp: ${bench.word('title')}
#include <heed.h>

#include <algorithm>
#include <cmath>
#include <iostream>
using namespace heed;

int main() {
  const Tensor scores = tensor(${cppList(scores)}), values = tensor(${cppList(values)});
  double m = scores[0].item(), l = 0, o = 0;  // the largest score, the sum of exp, the sum of exp times value
  for (int j = 0; j < ${scores.length}; ++j) {
    const double s = scores[j].item(), larger = std::max(m, s);
    l = l * std::exp(m - larger) + std::exp(s - larger);
    o = o * std::exp(m - larger) + std::exp(s - larger) * values[j].item();
    m = larger;
  }
  std::cout << o / l << " = " << sum(softmax(scores, -1) * values).item() << '\\n';
}
`;
}

function modelProgram(bench) {
  const {temperature, beginning, seed} = bench.state;
  return `// model.cpp: ${bench.word('title')}
#include <heed.h>
#include <heed/text.h>

#include <cmath>
#include <iostream>
#include <map>
using namespace heed;

const std::string text = R"text(${bench.text})text";

// Each character attends to itself and to those before it, and tells which one comes next.
struct Model : Layer<Model> {
  explicit Model(int64_t characters)
      : embedding(characters, 48),
        decoder(48, 4, 2, {.dim_feedforward = 192, .dropout = 0, .activation = Activation::gelu, .norm_first = true,
                           .rotary = true, .final_norm = true}),
        output(48, characters) {}
  Tensor forward(const Tensor& ids) const {  // [B, T] -> [B, T, V]
    return output(decoder(embedding(ids), AttentionOptions{.is_causal = true}));
  }
  void visit(Visitor& v) override {
    v("embedding", embedding);
    v("decoder", decoder);
    v("output", output);
  }

  Embedding embedding;
  TransformerEncoder decoder;
  Linear output;
};

int main() {
  std::map<std::string, int64_t> numbers;  // of each different character
  Tokens characters;
  const auto numbered = [&](const std::string& part) {
    Ids ids;
    for (const std::string& one : split_characters(part, true)) {
      if (numbers.emplace(one, std::ssize(characters)).second) characters.push_back(one);
      ids.push_back(numbers[one]);
    }
    return ids;
  };
  Ids written = numbered("${beginning.replaceAll(/["\\]/g, '')}");
  const Ids whole = numbered(text);
  const Tensor ids = from_vector(whole, {std::ssize(whole)});

  manual_seed(${seed});
  Model model(std::ssize(characters));
  Adam optimizer(model.parameters(), {.lr = 3e-3});
  for (int step = 1; step <= 600; ++step) {
    std::vector<Tensor> windows;
    for (int i = 0; i < 8; ++i)
      windows.push_back(narrow(ids, 0, default_generator().integer(0, ids.numel() - 48), 49));
    const Tensor window = stack(windows);  // [B, T + 1]
    const Tensor logits = model(narrow(window, 1, 0, 48));
    const Tensor loss = F::cross_entropy(logits, narrow(window, 1, 1, 48), {.class_dim = -1});
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 50 == 0) std::cout << "step " << step << ": " << loss.item() / std::log(2.0) << " bits per character\\n";
  }

  const NoGrad guard;
  for (int i = 0; i < 120; ++i) {
    const int64_t seen = std::min<int64_t>(48, std::ssize(written));
    const Tensor logits = model(from_vector(Ids(written.end() - seen, written.end()), {1, seen}));
    written.push_back(sample(logits[{0, -1}], default_generator(), {.temperature = ${cppNumber(temperature)}}));
  }
  for (const int64_t id : written) std::cout << characters[static_cast<size_t>(id)];
  std::cout << '\\n';
}
`;
}

// The statements of a formula, with the values of its leaves, on a tape that tells each step.
function tapeProgram(title, written, nodes) {
  const result = written.at(-1).name;
  const named = new Set(written.map(({name}) => name));
  const unwritten = nodes.filter(({leaf, label: name}) => leaf && !named.has(name));
  const statements = [...unwritten.map(({label: name, sizes, values}) =>
      ({name, value: sizes.length ? [...values].map(cppNumber).map(Number) : +cppNumber(values[0])})), ...written];
  const formula = text => text.replace(/softmax\(([^()]*)\)/g, 'softmax($1, -1)')
      .replace(/(\w+|\([^()]*\))\s*\^\s*([\d.]+)/g, 'pow($1, $2)');
  const braces = value => listText(value).replaceAll('[', '{').replaceAll(']', '}');
  const cpp = ({name, expression, value}) => `const Tensor ${name} = `
      + (value === undefined ? `${formula(expression)};` : `tensor(${braces(value)}).requires_grad_();`);
  return `// tape.cpp: ${title}
#include <heed.h>
#include <heed/view.h>

#include <iostream>
using namespace heed;

int main() {
  Tape tape;
${statements.map(one => '  ' + cpp(one)).join('\n')}
  ${result}.backward();
${statements.map(({name}) => `  tape.name("${name}", ${name});`).join('\n')}
  std::cout << tape_text(tape);
}
`;
}
