"""The workloads in PyTorch: eager, or with --compile what torch.compile makes of the models and losses."""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

import harness
from harness import BEGIN, COMPARING, DECODE_STEPS, HEADS, LARGE, LENGTHS, SMALL, Batch, workload

COMPILING = "--compile" in sys.argv
compiled = torch.compile if COMPILING else lambda f: f
torch.set_num_threads(harness.THREADS)
torch.manual_seed(0)
torch._inductor.config.fallback_random = True


# Values and timing

def given(*tensors):
    """Gives these tensors heed's values while comparing."""
    if COMPARING:
        with torch.no_grad():
            for x, value in zip(tensors, harness.heeds([x.detach().numpy() for x in tensors])):
                x.copy_(torch.from_numpy(value))


def leaf(*shape):
    return torch.randn(shape, requires_grad=True)


def ids(low, high, *shape):
    return torch.from_numpy(harness.ids(low, high, *shape))


def found(state, result, leaves):
    state.found(result.detach().numpy(), [x.grad.numpy() for x in leaves])


def check_gradients(leaves, seed):
    """Every leaf must have its whole gradient in its own memory."""
    assert all(x.grad.shape == x.shape and x.grad.isfinite().all() for x in leaves)
    assert len({seed.data_ptr()} | {x.grad.data_ptr() for x in leaves}) == len(leaves) + 1, "gradients share memory"


def time_forward_backward(state, leaves, forward):
    given(*leaves)
    seed = torch.ones_like(forward())
    given(seed)
    forward = compiled(forward)

    def step():
        for x in leaves:
            x.grad = None
        forward().backward(seed)

    if COMPARING:
        step()
        found(state, forward(), leaves)
    state.time(step)
    check_gradients(leaves, seed)


def time_training(state, model, optimizer, loss, max_norm=None, compare_in=torch.float32):
    parameters = list(model.parameters())
    loss = compiled(loss)

    def backward():
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        if max_norm is not None:
            nn.utils.clip_grad_norm_(parameters, max_norm)
        return value

    def step():
        backward()
        optimizer.step()

    if COMPARING:
        model.eval().to(compare_in)  # without dropout, which draws other numbers on the other side
        given(*parameters)
        found(state, backward(), parameters)
        model.train().to(torch.float32)
    state.time(step)
    state.require(all(p.isfinite().all() for p in parameters), "the parameters are not finite any more")


# Overhead: an iteration runs 1000 operations

def forward_ops(state):
    a, b = torch.randn(1), torch.randn(1)
    given(a, b)
    found(state, a + b, [])

    def step():
        for _ in range(1000):
            _ = a + b

    state.time(step)


def chain(state, *shape):
    start = torch.ones(shape)
    w = torch.full(shape, 0.999, requires_grad=True)
    b = torch.full(shape, 0.001, requires_grad=True)

    def forward():
        x = start
        for _ in range(500):
            x = x * w
            x = x + b
        return x

    time_forward_backward(state, [w, b], forward)


if not COMPILING:
    workload("op_overhead_forward", "us")(forward_ops)
    workload("op_overhead_forward_nograd", "us")(torch.inference_mode()(forward_ops))
    workload("op_overhead_autograd", "us", 1)(chain)
    workload("op_overhead_small", "us", 32, 32)(chain)


# Single operations

def unary(state, op, n):
    x = leaf(n)
    time_forward_backward(state, [x], lambda: op(x))


def elementwise_add(state, n):
    a, b = leaf(n), leaf(n)
    time_forward_backward(state, [a, b], lambda: a + b)


for n in 1_000_000, 16_000_000:
    workload(f"elementwise_add/{n}", "ms", n)(elementwise_add)
    workload(f"elementwise_exp/{n}", "ms", torch.exp, n)(unary)
    workload(f"elementwise_tanh/{n}", "ms", torch.tanh, n)(unary)
    workload(f"elementwise_gelu/{n}", "ms", F.gelu, n)(unary)


@workload("softmax/4096x64", "ms", 4096, 64)
@workload("softmax/4096x512", "ms", 4096, 512)
@workload("softmax/512x8192", "ms", 512, 8192)
def softmax(state, rows, columns):
    x = leaf(rows, columns)
    time_forward_backward(state, [x], lambda: torch.softmax(x, -1))


@workload("layer_norm/4096x256", "ms", 4096, 256)
@workload("layer_norm/4096x1024", "ms", 4096, 1024)
def layer_norm(state, rows, columns):
    x, scale, shift = leaf(rows, columns), leaf(columns), leaf(columns)
    time_forward_backward(state, [x, scale, shift], lambda: F.layer_norm(x, (columns,), scale, shift, 1e-5))


@workload("cross_entropy/4096x1000")
def cross_entropy(state):
    x, labels = leaf(4096, 1000), ids(0, 1000, 4096)
    time_forward_backward(state, [x], lambda: F.cross_entropy(x, labels))


@workload("linear/64x256->256", "ms", 64, 256, 256)
@workload("linear/2048x256->1024", "ms", 2048, 256, 1024)
@workload("linear/4096x1024->1024", "ms", 4096, 1024, 1024)
def linear(state, batch, n_in, n_out):
    x, weight, bias = leaf(batch, n_in), leaf(n_out, n_in), leaf(n_out)
    time_forward_backward(state, [x, weight, bias], lambda: F.linear(x, weight, bias))


@workload("conv2d/32x3x32x32->32k3", "ms", 32, 3, 32, 32, 3)
@workload("conv2d/32x64x16x16->64k3", "ms", 32, 64, 16, 64, 3)
@workload("conv2d/16x128x14x14->128k3", "ms", 16, 128, 14, 128, 3)
@workload("conv2d/8x64x56x56->128k3s2", "ms", 8, 64, 56, 128, 3, 2)
@workload("conv2d/16x256x14x14->64k1", "ms", 16, 256, 14, 64, 1)
def conv2d(state, n, n_in, size, n_out, kernel, stride=1):
    x, weight, bias = leaf(n, n_in, size, size), leaf(n_out, n_in, kernel, kernel), leaf(n_out)
    time_forward_backward(state, [x, weight, bias], lambda: F.conv2d(x, weight, bias, stride, (kernel - 1) // 2))


@workload("batch_norm/32x64x16x16", "ms", 32, 64, 16)
@workload("batch_norm/8x64x56x56", "ms", 8, 64, 56)
def batch_norm(state, n, channels, size):
    x, weight, bias = leaf(n, channels, size, size), leaf(channels), leaf(channels)
    mean, var = torch.zeros(channels), torch.ones(channels)
    time_forward_backward(state, [x, weight, bias], lambda: F.batch_norm(x, mean, var, weight, bias, True))


# Small models

@workload("kernel_regression_step", "us")
def kernel_regression_step(state):
    q, keys, values, y, w = (torch.from_numpy(x) for x in (
        harness.uniform(5, 50), harness.uniform(5, 50, 49), harness.uniform(1, 50, 49), harness.uniform(1, 50),
        harness.uniform(1, 1)))
    w.requires_grad_()
    given(q, keys, values, y, w)

    @compiled
    def loss():
        attention = torch.softmax(-((q[:, None] - keys) * w) ** 2 / 2, 1)
        prediction = torch.bmm(attention[:, None, :], values[:, :, None]).reshape(-1)
        return ((prediction - y) ** 2).sum() / 2

    def backward():
        w.grad = None
        value = loss()
        value.backward()
        return value

    def step():
        backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.001)

    if COMPARING:
        found(state, backward(), [w])
    state.time(step)
    state.require(0.1 < abs(w.item()) < math.inf, "w has gone to 0, or is not finite")


@workload("mlp_step", "us")
def mlp_step(state):
    x, labels = torch.randn(64, 784), ids(0, 10, 64)
    given(x)
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    time_training(state, model, sgd, lambda: F.cross_entropy(model(x), labels))


@workload("adam_step")
def adam_step(state):
    parameters = [leaf(400, 500) for _ in range(50)]
    for p in parameters:
        p.grad = torch.randn(400, 500)
        given(p, p.grad)
    adam = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    if COMPARING:
        adam.step()
        for p in parameters:
            found(state, p, [])
    state.time(adam.step)


# Attention

@workload("attention_scores_additive", "us")
def attention_scores_additive(state):
    q, k, v = leaf(64, 1, 256), leaf(64, 10, 256), leaf(64, 10, 256)
    to_q, to_k, to_score = (nn.Linear(256, n, bias=False) for n in (256, 256, 1))

    def forward():
        features = torch.tanh(to_q(q)[:, :, None, :] + to_k(k)[:, None, :, :])  # [64, 1, 10, 256]
        return torch.bmm(torch.softmax(to_score(features).squeeze(-1), -1), v)

    time_forward_backward(state, [q, k, v, to_q.weight, to_k.weight, to_score.weight], forward)


def split_heads(x, heads):  # [B, T, D] -> [B, H, T, d]
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x):  # [B, H, T, d] -> [B, T, D]
    return x.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    def __init__(self, width, heads, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None, is_causal=False, cache=None, seen=0):
        q, k, v = (split_heads(part, self.heads) for part in self.into(x).chunk(3, -1))
        if cache is not None:  # keys and values [B, H, all steps, d] of the `seen` positions before x
            keys, values = cache
            end = seen + x.size(1)
            keys[:, :, seen:end], values[:, :, seen:end] = k, v
            k, v = keys[:, :, :end], values[:, :, :end]
        dropout = self.dropout if self.training else 0.0
        return self.out(join_heads(F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)))


class CrossAttention(nn.Module):
    def __init__(self, width, heads, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        q, kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.q_weight, self.kv_weight, self.q_bias, self.kv_bias = q.weight, kv.weight, q.bias, kv.bias  # heed's order
        self.out = nn.Linear(width, width)

    def keys_values(self, memory):
        return [split_heads(part, self.heads) for part in F.linear(memory, self.kv_weight, self.kv_bias).chunk(2, -1)]

    def forward(self, x, keys_values, mask=None):
        q = split_heads(F.linear(x, self.q_weight, self.q_bias), self.heads)
        dropout = self.dropout if self.training else 0.0
        return self.out(join_heads(F.scaled_dot_product_attention(q, *keys_values, mask, dropout)))


def mha_step(state, batch, length, width, heads):
    x = leaf(batch, length, width)
    attention = SelfAttention(width, heads)
    time_forward_backward(state, [*attention.parameters(), x], lambda: attention(x))


for name, size in HEADS.items():
    workload(f"mha_step/{name}", "ms", *size)(mha_step)


def attention_long(state, length, is_causal):
    q, k, v = (leaf(1, 8, length, 64) for _ in range(3))
    time_forward_backward(state, [q, k, v], lambda: F.scaled_dot_product_attention(q, k, v, is_causal=is_causal))


for is_causal in False, True:
    for length in LENGTHS:
        workload(f"attention_long/{'causal' if is_causal else 'full'}/{length}", "ms", length,
                 is_causal)(attention_long)


# Whole models

class FeedForward(nn.Module):
    def __init__(self, width, hidden, activation):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = activation

    def forward(self, x):
        return self.linear2(self.activation(self.linear1(x)))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, feedforward, dropout, activation=F.relu, norm_first=False):
        super().__init__()
        self.attention = SelfAttention(width, heads, dropout)
        self.feed_forward = FeedForward(width, feedforward, activation)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout, self.norm_first = nn.Dropout(dropout), norm_first

    def forward(self, x, mask=None, is_causal=False):
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask, is_causal))
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x, mask, is_causal)))
        return self.norm2(x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, feedforward, dropout):
        super().__init__()
        self.self_attention = SelfAttention(width, heads, dropout)
        self.cross_attention = CrossAttention(width, heads, dropout)
        self.feed_forward = FeedForward(width, feedforward, F.relu)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, keys_values, memory_mask=None, is_causal=True, cache=None, seen=0):
        x = self.norm1(x + self.dropout(self.self_attention(x, None, is_causal, cache, seen)))
        x = self.norm2(x + self.dropout(self.cross_attention(x, keys_values, memory_mask)))
        return self.norm3(x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):
    """Encoder and decoder with the norms after each sum."""

    def __init__(self, size):
        super().__init__()
        options = size.width, size.heads, size.feedforward, 0.1
        self.source, self.target = nn.Embedding(size.words, size.width), nn.Embedding(size.words, size.width)
        self.encoder = nn.ModuleList(EncoderLayer(*options) for _ in range(size.layers))
        self.decoder = nn.ModuleList(DecoderLayer(*options) for _ in range(size.layers))
        self.output = nn.Linear(size.width, size.words)
        self.dropout, self.scale = nn.Dropout(0.1), math.sqrt(size.width)
        self.register_buffer("positions", torch.from_numpy(harness.sinusoids(DECODE_STEPS, size.width)))

    def embed(self, table, words, seen=0):
        return self.dropout(table(words) * self.scale + self.positions[seen:seen + words.size(1)])

    def encode(self, words, mask=None):
        x = self.embed(self.source, words)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def decode(self, words, memory, memory_mask=None):
        x = self.embed(self.target, words)
        for layer in self.decoder:
            x = layer(x, layer.cross_attention.keys_values(memory), memory_mask)
        return self.output(x)

    def next_word(self, words, memory, caches, seen):
        """The most probable word after `words`, which follow the `seen` positions in the caches. `memory` has the
        keys and values of each layer's cross-attention."""
        x = self.embed(self.target, words, seen)
        for layer, keys_values, cache in zip(self.decoder, memory, caches):
            x = layer(x, keys_values, None, cache is None, cache, seen)
        return self.output(x[:, -1:]).argmax(-1)


def masked(valid):
    """A mask [B, 1, 1, S] that is added to the scores."""
    mask = torch.zeros(valid.shape).masked_fill_(~torch.from_numpy(valid), -math.inf)
    return mask[:, None, None, :]


@workload("transformer_seq2seq_step/small", "ms", SMALL)
@workload("transformer_seq2seq_step/large", "ms", LARGE)
def transformer_seq2seq_step(state, size):
    batch = Batch(128, size.length, size.words)
    source, inputs, labels = (torch.from_numpy(x) for x in (batch.source, batch.input, batch.labels))
    mask = masked(batch.valid)
    model = Transformer(size)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def loss():
        to_source = mask.to(model.output.weight.dtype)  # nothing to do in float32
        logits = model.decode(inputs, model.encode(source, to_source), to_source)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)

    time_training(state, model, adam, loss, compare_in=torch.float64)


def greedy_decode(state, cached, batch):
    source = ids(4, SMALL.words, batch, SMALL.length)
    model = Transformer(SMALL).eval()
    given(*model.parameters())
    encode, next_word = compiled(model.encode), compiled(model.next_word)
    shape = batch, SMALL.heads, DECODE_STEPS, SMALL.width // SMALL.heads

    @torch.inference_mode()
    def decode():
        encoded = encode(source)
        memory = [layer.cross_attention.keys_values(encoded) for layer in model.decoder]
        caches = [(torch.empty(shape), torch.empty(shape)) if cached else None for _ in model.decoder]
        words = torch.full((batch, 1), BEGIN)
        for step in range(DECODE_STEPS):
            seen = step if cached else 0
            words = torch.cat([words, next_word(words[:, seen:], memory, caches, seen)], 1)
        return words

    if COMPARING:
        found(state, decode(), [])
    state.time(decode)


for cached in False, True:
    for batch in 1, 64:
        workload(f"greedy_decode/{'kvcache' if cached else 'nocache'}/{batch}", "ms", cached, batch)(greedy_decode)


class GruTranslator(nn.Module):
    """Two GRUs and additive attention between them."""

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(200, 256), nn.Embedding(200, 256)
        self.encoder = nn.GRU(256, 256, num_layers=2, batch_first=True, dropout=0.2)
        self.to_query, self.to_key, self.to_score = (nn.Linear(256, n, bias=False) for n in (256, 256, 1))
        self.decoder = nn.GRU(512, 256, num_layers=2, batch_first=True, dropout=0.2)
        self.output = nn.Linear(256, 200)

    def forward(self, source, inputs, mask):
        states, state = self.encoder(self.source(source))  # [B, S, H], [2, B, H]
        keys, y = self.to_key(states), self.target(inputs)
        outputs = []
        for t in range(y.size(1)):
            scores = self.to_score(torch.tanh(self.to_query(state[-1])[:, None] + keys)).squeeze(-1) + mask  # [B, S]
            context = torch.bmm(torch.softmax(scores, -1)[:, None], states)  # [B, 1, H]
            output, state = self.decoder(torch.cat([context, y[:, t:t + 1]], -1), state)
            outputs.append(output)
        return self.output(torch.cat(outputs, 1))


@workload("gru_seq2seq_step")
def gru_seq2seq_step(state):
    batch = Batch(128, 10, 200)
    source, inputs, labels = (torch.from_numpy(x) for x in (batch.source, batch.input, batch.labels))
    mask = masked(batch.valid).flatten(1)
    model = GruTranslator()
    adam = torch.optim.Adam(model.parameters(), lr=0.005, fused=True)

    def loss():
        return F.cross_entropy(model(source, inputs, mask).flatten(0, 1), labels.flatten(), ignore_index=0)

    time_training(state, model, adam, loss, max_norm=1)


class Gpt(nn.Module):
    def __init__(self, words, length, width, layers, heads):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(
            EncoderLayer(width, heads, 4 * width, 0.0, F.gelu, norm_first=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.words(ids) + self.positions.weight[:ids.size(1)]
        for layer in self.layers:
            x = layer(x, is_causal=True)
        return F.linear(self.norm(x), self.words.weight)


@workload("gpt_step")
def gpt_step(state):
    x, labels = ids(0, 65, 8, 256), ids(0, 65, 8, 256)
    model = Gpt(words=65, length=256, width=384, layers=6, heads=6)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True)
    time_training(state, model, adam, lambda: F.cross_entropy(model(x).flatten(0, 1), labels.flatten()), max_norm=1)


def about():
    config = torch.__config__.show()
    mkl = next((line.strip(" -") for line in config.splitlines() if "Math Kernel" in line), "no MKL")
    how = "with torch.compile" if COMPILING else "eager"
    return (f"PyTorch {torch.__version__} {how}, {mkl.split('-Product')[0]}, "
            f"{torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads")


if __name__ == "__main__":
    sys.exit(harness.main(about(), [x for x in sys.argv[1:] if x != "--compile"]))
