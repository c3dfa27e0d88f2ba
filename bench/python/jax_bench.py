"""The workloads in JAX: each step is one jitted function, whose parameters and optimizer state are donated."""
import functools
import math
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

import harness
from harness import BEGIN, COMPARING, DECODE_STEPS, HEADS, LARGE, LENGTHS, SMALL, Batch, workload

if COMPARING:
    jax.config.update("jax_enable_x64", True)  # transformers are compared in float64


# Values and timing

def given(tree):
    """Returns heed's values in place of a tree's arrays while comparing."""
    leaves, structure = jax.tree.flatten(tree)
    return structure.unflatten([jnp.asarray(x) for x in harness.given([np.asarray(x) for x in leaves])])


def leaf(*shape):
    return jnp.asarray(harness.normal(*shape))


def time_forward_backward(state, leaves, forward):
    leaves = given(leaves)
    [seed] = given([jnp.ones_like(forward(*leaves))])

    @jax.jit
    def forward_backward(leaves, seed):
        y, vjp = jax.vjp(forward, *leaves)
        return y, vjp(seed)

    if COMPARING:
        state.found(*forward_backward(leaves, seed))
    state.time(lambda: jax.block_until_ready(forward_backward(leaves, seed)))
    _, gradients = forward_backward(leaves, seed)
    assert all(x.shape == g.shape and jnp.isfinite(g).all() for x, g in zip(leaves, gradients))
    buffers = {x.unsafe_buffer_pointer() for x in (seed, *gradients)}
    assert len(buffers) == len(leaves) + 1, "two gradients share memory"


class Adam(NamedTuple):
    """Adam, and AdamW with a weight decay."""
    lr: float
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def init(self, parameters):
        zeros = functools.partial(jax.tree.map, jnp.zeros_like)
        return jnp.zeros((), jnp.int32), zeros(parameters), zeros(parameters)

    def update(self, parameters, gradients, state):
        t, means, squares = state
        t = t + 1
        b1, b2 = self.betas
        c1, c2 = 1 - b1 ** t.astype(jnp.float32), 1 - b2 ** t.astype(jnp.float32)
        means = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, means, gradients)
        squares = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, squares, gradients)
        parameters = jax.tree.map(
            lambda p, m, v: p * (1 - self.lr * self.weight_decay)
            - self.lr / c1 * m / (jnp.sqrt(v / c2) + self.eps), parameters, means, squares)
        return parameters, (t, means, squares)


class Sgd(NamedTuple):
    lr: float

    def init(self, parameters):
        return ()

    def update(self, parameters, gradients, state):
        return jax.tree.map(lambda p, g: p - self.lr * g, parameters, gradients), state


def clip(gradients, max_norm):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
    scale = jnp.minimum(1.0, max_norm / (norm + 1e-6))
    return jax.tree.map(lambda g: g * scale, gradients)


def time_training(state, parameters, optimizer, loss, max_norm=None, compare_in=jnp.float32):
    """Trains loss(parameters, key); without a key there is no dropout."""
    def backward(parameters, key):
        value, gradients = jax.value_and_grad(loss)(parameters, key)
        return value, gradients if max_norm is None else clip(gradients, max_norm)

    if COMPARING:
        parameters = given(jax.tree.map(lambda p: p.astype(compare_in), parameters))
        value, gradients = jax.jit(backward)(parameters, None)
        state.found(value, jax.tree.leaves(gradients))
        parameters = jax.tree.map(lambda p: p.astype(jnp.float32), parameters)

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def train(parameters, optimizer_state, key):
        key, dropout_key = jax.random.split(key)
        value, gradients = backward(parameters, dropout_key)
        return *optimizer.update(parameters, gradients, optimizer_state), key, value

    training = parameters, optimizer.init(parameters), jax.random.key(0)

    def step():
        nonlocal training
        *training, value = jax.block_until_ready(train(*training))

    state.time(step)
    state.require(all(jnp.isfinite(p).all() for p in jax.tree.leaves(training[0])),
                  "the parameters are not finite any more")


# Single operations

def unary(state, op, n):
    time_forward_backward(state, [leaf(n)], op)


def elementwise_add(state, n):
    time_forward_backward(state, [leaf(n), leaf(n)], lambda a, b: a + b)


exact_gelu = functools.partial(jax.nn.gelu, approximate=False)
for n in 1_000_000, 16_000_000:
    workload(f"elementwise_add/{n}", "ms", n)(elementwise_add)
    workload(f"elementwise_exp/{n}", "ms", jnp.exp, n)(unary)
    workload(f"elementwise_tanh/{n}", "ms", jnp.tanh, n)(unary)
    workload(f"elementwise_gelu/{n}", "ms", exact_gelu, n)(unary)


@workload("softmax/4096x64", "ms", 4096, 64)
@workload("softmax/4096x512", "ms", 4096, 512)
@workload("softmax/512x8192", "ms", 512, 8192)
def softmax(state, rows, columns):
    time_forward_backward(state, [leaf(rows, columns)], jax.nn.softmax)


class LayerNorm(NamedTuple):
    scale: Array
    shift: Array

    def __call__(self, x):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.scale + self.shift


@workload("layer_norm/4096x256", "ms", 4096, 256)
@workload("layer_norm/4096x1024", "ms", 4096, 1024)
def layer_norm(state, rows, columns):
    leaves = [leaf(rows, columns), leaf(columns), leaf(columns)]
    time_forward_backward(state, leaves, lambda x, scale, shift: LayerNorm(scale, shift)(x))


def log_likelihoods(logits, labels):
    return jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)[..., 0]


def cross_entropy(logits, labels):
    return -log_likelihoods(logits, labels).mean()


def cross_entropy_unpadded(logits, labels):
    return -log_likelihoods(logits, labels).mean(where=labels != 0)


@workload("cross_entropy/4096x1000")
def cross_entropy_4096x1000(state):
    labels = harness.ids(0, 1000, 4096)
    time_forward_backward(state, [leaf(4096, 1000)], lambda x: cross_entropy(x, labels))


class Linear(NamedTuple):
    weight: Array  # [out, in]
    bias: Array | None

    def __call__(self, x):
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias


class TransposedLinear(Linear):
    """Linear with a weight [in, out], as JAX programs usually have it: XLA multiplies single rows faster by it."""
    def __call__(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias


def with_transposed_weights(model):
    """model, in which every Linear has its weight transposed in memory."""
    def is_linear(node):
        return isinstance(node, Linear)

    def transposed(node):
        return TransposedLinear(jnp.array(node.weight.T), node.bias) if is_linear(node) else node

    return jax.tree.map(transposed, model, is_leaf=is_linear)


@workload("linear/64x256->256", "ms", 64, 256, 256)
@workload("linear/2048x256->1024", "ms", 2048, 256, 1024)
@workload("linear/4096x1024->1024", "ms", 4096, 1024, 1024)
def linear(state, batch, n_in, n_out):
    leaves = [leaf(batch, n_in), leaf(n_out, n_in), leaf(n_out)]
    time_forward_backward(state, leaves, lambda x, weight, bias: Linear(weight, bias)(x))


@workload("conv2d/32x3x32x32->32k3", "ms", 32, 3, 32, 32, 3)
@workload("conv2d/32x64x16x16->64k3", "ms", 32, 64, 16, 64, 3)
@workload("conv2d/16x128x14x14->128k3", "ms", 16, 128, 14, 128, 3)
@workload("conv2d/8x64x56x56->128k3s2", "ms", 8, 64, 56, 128, 3, 2)
@workload("conv2d/16x256x14x14->64k1", "ms", 16, 256, 14, 64, 1)
def conv2d(state, n, n_in, size, n_out, kernel, stride=1):
    def forward(x, weight, bias):
        padding = (kernel - 1) // 2
        y = jax.lax.conv_general_dilated(x, weight, (stride, stride), [(padding, padding)] * 2)
        return y + bias[:, None, None]

    time_forward_backward(state, [leaf(n, n_in, size, size), leaf(n_out, n_in, kernel, kernel), leaf(n_out)], forward)


@workload("batch_norm/32x64x16x16", "ms", 32, 64, 16)
@workload("batch_norm/8x64x56x56", "ms", 8, 64, 56)
def batch_norm(state, n, channels, size):
    def forward(x, weight, bias):
        mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * weight[:, None, None] + bias[:, None, None]

    time_forward_backward(state, [leaf(n, channels, size, size), leaf(channels), leaf(channels)], forward)


# Initial values of layers

def bounded(bound, *shape):
    return jnp.asarray(harness.uniform(2 * bound, *shape) - np.float32(bound))


def make_linear(n_in, n_out, bias=True):
    bound = 1 / math.sqrt(n_in)
    return Linear(bounded(bound, n_out, n_in), bounded(bound, n_out) if bias else None)


def make_layer_norm(width):
    return LayerNorm(jnp.ones(width, jnp.float32), jnp.zeros(width, jnp.float32))


# Small models

@workload("kernel_regression_step", "us")
def kernel_regression_step(state):
    q, keys, values, y, w = given([
        harness.uniform(5, 50), harness.uniform(5, 50, 49), harness.uniform(1, 50, 49), harness.uniform(1, 50),
        harness.uniform(1, 1)])

    def loss(w):
        attention = jax.nn.softmax(-((q[:, None] - keys) * w) ** 2 / 2, axis=1)
        prediction = (attention[:, None, :] @ values[:, :, None]).reshape(-1)
        return jnp.sum((prediction - y) ** 2) / 2

    @functools.partial(jax.jit, donate_argnums=0)
    def train(w):
        value, gradient = jax.value_and_grad(loss)(w)
        return w - 0.001 * gradient, value

    if COMPARING:
        value, gradient = jax.jit(jax.value_and_grad(loss))(w)
        state.found(value, [gradient])

    def step():
        nonlocal w
        w, value = jax.block_until_ready(train(w))

    state.time(step)
    state.require(0.1 < abs(w[0]) < math.inf, "w has gone to 0, or is not finite")


@workload("mlp_step", "us")
def mlp_step(state):
    labels, [x] = harness.ids(0, 10, 64), given([leaf(64, 784)])

    def loss(parameters, key):
        hidden, output = parameters
        return cross_entropy(output(jax.nn.relu(hidden(x))), labels)

    time_training(state, (make_linear(784, 128), make_linear(128, 10)), Sgd(0.01), loss)


@workload("adam_step")
def adam_step(state):
    pairs = [given([leaf(400, 500), leaf(400, 500)]) for _ in range(50)]
    parameters, gradients = [p for p, _ in pairs], [g for _, g in pairs]
    adam = Adam(1e-3)
    if COMPARING:
        for p in adam.update(parameters, gradients, adam.init(parameters))[0]:
            state.found(p, [])
    update = jax.jit(adam.update, donate_argnums=(0, 2))
    adam_state = adam.init(parameters)

    def step():
        nonlocal parameters, adam_state
        parameters, adam_state = jax.block_until_ready(update(parameters, gradients, adam_state))

    state.time(step)


# Attention

@workload("attention_scores_additive", "us")
def attention_scores_additive(state):
    leaves = [leaf(64, 1, 256), leaf(64, 10, 256), leaf(64, 10, 256),
              *(make_linear(256, n, bias=False).weight for n in (256, 256, 1))]

    def forward(q, k, v, to_q, to_k, to_score):
        features = jnp.tanh((q @ to_q.T)[:, :, None, :] + (k @ to_k.T)[:, None, :, :])  # [64, 1, 10, 256]
        return jax.nn.softmax((features @ to_score.T)[..., 0]) @ v

    time_forward_backward(state, leaves, forward)


def dropout(x, rate, key):
    """Drops values, unless `key` is None."""
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def keys_for(key, n):
    """Splits a key, unless it is None."""
    return [None] * n if key is None else jax.random.split(key, n)


def attend(q, k, v, mask=None, rate=0.0, key=None):
    """Attention of q [B, H, T, d]; a mask is True where a query may attend."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q / math.sqrt(q.shape[-1]), k)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", dropout(jax.nn.softmax(scores), rate, key), v)


def causal(length):
    return jnp.tri(length, dtype=bool)


def split_heads(x, heads, parts=1):  # [B, T, parts * D] -> parts of [B, H, T, d]
    return jnp.moveaxis(x.reshape(*x.shape[:2], parts, heads, -1), (2, 3), (0, 2))


def join_heads(x):  # [B, H, T, d] -> [B, T, D]
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


class SelfAttention(NamedTuple):
    into: Linear  # queries, keys and values
    out: Linear

    def __call__(self, x, heads, mask=None, rate=0.0, key=None):
        q, k, v = split_heads(self.into(x), heads, 3)
        return self.out(join_heads(attend(q, k, v, mask, rate, key)))


class CrossAttention(NamedTuple):
    q_weight: Array  # in the order of heed's parameters
    kv_weight: Array
    q_bias: Array
    kv_bias: Array
    out: Linear

    def keys_values(self, memory, heads):
        return split_heads(Linear(self.kv_weight, self.kv_bias)(memory), heads, 2)

    def __call__(self, x, keys_values, heads, mask=None, rate=0.0, key=None):
        [q] = split_heads(Linear(self.q_weight, self.q_bias)(x), heads)
        return self.out(join_heads(attend(q, *keys_values, mask, rate, key)))


def make_self_attention(width):
    return SelfAttention(make_linear(width, 3 * width), make_linear(width, width))


def make_cross_attention(width):
    q, kv = make_linear(width, width), make_linear(width, 2 * width)
    return CrossAttention(q.weight, kv.weight, q.bias, kv.bias, make_linear(width, width))


def mha_step(state, batch, length, width, heads):
    parameters, structure = jax.tree.flatten(make_self_attention(width))

    def forward(*leaves):
        *parameters, x = leaves
        return structure.unflatten(parameters)(x, heads)

    time_forward_backward(state, [*parameters, leaf(batch, length, width)], forward)


for name, size in HEADS.items():
    workload(f"mha_step/{name}", "ms", *size)(mha_step)


def attention_long(state, length, is_causal):
    leaves = [leaf(1, 8, length, 64) for _ in range(3)]
    time_forward_backward(state, leaves, lambda q, k, v: attend(q, k, v, causal(length) if is_causal else None))


for is_causal in False, True:
    for length in LENGTHS:
        workload(f"attention_long/{'causal' if is_causal else 'full'}/{length}", "ms", length,
                 is_causal)(attention_long)


# Whole models

class FeedForward(NamedTuple):
    linear1: Linear
    linear2: Linear

    def __call__(self, x, activation):
        return self.linear2(activation(self.linear1(x)))


class EncoderLayer(NamedTuple):
    attention: SelfAttention
    feed_forward: FeedForward
    norm1: LayerNorm
    norm2: LayerNorm

    def post_norm(self, x, heads, mask, rate, key):
        keys = keys_for(key, 3)
        x = self.norm1(x + dropout(self.attention(x, heads, mask, rate, keys[0]), rate, keys[1]))
        return self.norm2(x + dropout(self.feed_forward(x, jax.nn.relu), rate, keys[2]))

    def pre_norm(self, x, heads, mask):
        x = x + self.attention(self.norm1(x), heads, mask)
        return x + self.feed_forward(self.norm2(x), exact_gelu)


class DecoderLayer(NamedTuple):
    self_attention: SelfAttention
    cross_attention: CrossAttention
    feed_forward: FeedForward
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm

    def __call__(self, x, keys_values, heads, mask, memory_mask=None, rate=0.0, key=None):
        keys = keys_for(key, 5)
        x = self.norm1(x + dropout(self.self_attention(x, heads, mask, rate, keys[0]), rate, keys[1]))
        cross = self.cross_attention(x, keys_values, heads, memory_mask, rate, keys[2])
        return self.after_attention(x, cross, rate, keys[3:])

    def after_attention(self, x, cross, rate=0.0, keys=(None, None)):
        x = self.norm2(x + dropout(cross, rate, keys[0]))
        return self.norm3(x + dropout(self.feed_forward(x, jax.nn.relu), rate, keys[1]))

    def one_position(self, x, keys_values, heads, cache, position):
        """x [B, 1, D] at `position`; the cache has room for the keys and values of all."""
        q, k, v = split_heads(self.self_attention.into(x), heads, 3)
        cache = [lax.dynamic_update_slice_in_dim(past, new, position, 2) for past, new in zip(cache, (k, v))]
        seen = jnp.arange(DECODE_STEPS) <= position
        x = self.norm1(x + self.self_attention.out(join_heads(attend(q, *cache, seen))))
        return self.after_attention(x, self.cross_attention(x, keys_values, heads)), cache


def make_encoder_layer(width, hidden):
    return EncoderLayer(make_self_attention(width),
                        FeedForward(make_linear(width, hidden), make_linear(hidden, width)),
                        make_layer_norm(width), make_layer_norm(width))


def make_decoder_layer(width, hidden):
    return DecoderLayer(make_self_attention(width), make_cross_attention(width),
                        FeedForward(make_linear(width, hidden), make_linear(hidden, width)),
                        *(make_layer_norm(width) for _ in range(3)))


class Transformer(NamedTuple):
    """Encoder and decoder with the norms after each sum."""
    source: Array
    target: Array
    encoder: list
    decoder: list
    output: Linear

    def embed(self, table, words, position=0, rate=0.0, key=None):
        width = table.shape[1]
        positions = jnp.asarray(harness.sinusoids(DECODE_STEPS, width), table.dtype)
        x = table[words] * math.sqrt(width) + lax.dynamic_slice_in_dim(positions, position, words.shape[1])
        return dropout(x, rate, key)

    def encode(self, words, heads, mask=None, rate=0.0, key=None):
        keys = keys_for(key, len(self.encoder) + 1)
        x = self.embed(self.source, words, 0, rate, keys[0])
        for layer, layer_key in zip(self.encoder, keys[1:]):
            x = layer.post_norm(x, heads, mask, rate, layer_key)
        return x

    def keys_values(self, memory, heads):
        return [layer.cross_attention.keys_values(memory, heads) for layer in self.decoder]

    def decode(self, words, memory, heads, memory_mask=None, rate=0.0, key=None):
        """The top layer's states; `memory` is keys_values()."""
        keys = keys_for(key, len(self.decoder) + 1)
        x = self.embed(self.target, words, 0, rate, keys[0])
        for layer, keys_values, layer_key in zip(self.decoder, memory, keys[1:]):
            x = layer(x, keys_values, heads, causal(words.shape[1]), memory_mask, rate, layer_key)
        return x


def make_transformer(size):
    return Transformer(leaf(size.words, size.width), leaf(size.words, size.width),
                       [make_encoder_layer(size.width, size.feedforward) for _ in range(size.layers)],
                       [make_decoder_layer(size.width, size.feedforward) for _ in range(size.layers)],
                       make_linear(size.width, size.words))


@workload("transformer_seq2seq_step/small", "ms", SMALL)
@workload("transformer_seq2seq_step/large", "ms", LARGE)
def transformer_seq2seq_step(state, size):
    batch = Batch(128, size.length, size.words)
    mask = batch.valid[:, None, None, :]

    def loss(model, key):
        encoder_key, decoder_key = keys_for(key, 2)
        encoded = model.encode(batch.source, size.heads, mask, 0.1, encoder_key)
        memory = model.keys_values(encoded, size.heads)
        states = model.decode(batch.input, memory, size.heads, mask, 0.1, decoder_key)
        return cross_entropy_unpadded(model.output(states), batch.labels)

    time_training(state, make_transformer(size), Adam(1e-3), loss, compare_in=jnp.float64)


def greedy_decode(state, cached, batch):
    source = jnp.asarray(harness.ids(4, SMALL.words, batch, SMALL.length))
    model = given(make_transformer(SMALL))
    heads, shape = SMALL.heads, (batch, SMALL.heads, DECODE_STEPS, SMALL.width // SMALL.heads)

    def most_probable(model, states):
        return model.output(states).argmax(-1).astype(source.dtype)

    @jax.jit
    def decode(model, source):
        memory = model.keys_values(model.encode(source, heads), heads)

        words = jnp.full((batch, 1), BEGIN, source.dtype)
        for _ in range(DECODE_STEPS):  # unrolled: a fori_loop would decode 32 positions in every step
            states = model.decode(words, memory, heads)
            words = jnp.concatenate([words, most_probable(model, states[:, -1:])], 1)
        return words

    @jax.jit
    def decode_cached(model, source):
        memory = model.keys_values(model.encode(source, heads), heads)

        def next_word(carry, step):
            word, caches = carry
            x = model.embed(model.target, word, step)
            new = []
            for layer, keys_values, cache in zip(model.decoder, memory, caches):
                x, cache = layer.one_position(x, keys_values, heads, cache, step)
                new.append(cache)
            word = most_probable(model, x)
            return (word, new), word[:, 0]

        begin = jnp.full((batch, 1), BEGIN, source.dtype)
        caches = [[jnp.zeros(shape, jnp.float32)] * 2 for _ in model.decoder]
        _, words = lax.scan(next_word, (begin, caches), jnp.arange(DECODE_STEPS))
        return jnp.concatenate([begin, words.T], 1)

    run = decode_cached if cached else decode
    model = with_transposed_weights(model)
    if COMPARING:
        state.found(run(model, source), [])
    state.time(lambda: jax.block_until_ready(run(model, source)))


for cached in False, True:
    for batch in 1, 64:
        workload(f"greedy_decode/{'kvcache' if cached else 'nocache'}/{batch}", "ms", cached, batch)(greedy_decode)


class GruCell(NamedTuple):
    """h' = (1 - z) n + z h with r, z = sigma(Wx + b + Uh + b'), n = tanh(Wx + b + r * (Uh + b'))."""
    weight: Array
    state_weight: Array
    bias: Array
    state_bias: Array

    def project(self, x):
        return x @ self.weight.T + self.bias

    def step(self, h, projected):
        xr, xz, xn = jnp.split(projected, 3, -1)
        hr, hz, hn = jnp.split(h @ self.state_weight.T + self.state_bias, 3, -1)
        r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
        n = jnp.tanh(xn + r * hn)
        return n + z * (h - n)

    def __call__(self, x):
        """All states of x [B, T, n] from 0."""
        def step(h, projected):
            h = self.step(h, projected)
            return h, h

        first = jnp.zeros((x.shape[0], self.state_weight.shape[1]), x.dtype)
        _, states = lax.scan(step, first, self.project(x.swapaxes(0, 1)), unroll=True)
        return states.swapaxes(0, 1)


def make_gru_cell(n_in, width):
    bound = 1 / math.sqrt(width)
    return GruCell(*(bounded(bound, 3 * width, *rest) for rest in ((n_in,), (width,), (), ())))


class GruTranslator(NamedTuple):
    """Two GRUs of two layers and additive attention between them."""
    source: Array
    target: Array
    encoder: list
    to_query: Linear
    to_key: Linear
    to_score: Linear
    decoder: list
    output: Linear

    def __call__(self, source, inputs, valid, key):
        encoder_key, decoder_key = keys_for(key, 2)
        lower = self.encoder[0](self.source[source])  # [B, S, H]
        states = self.encoder[1](dropout(lower, 0.2, encoder_key))
        keys = self.to_key(states)

        def step(carry, x):
            (h1, h2), (y, step_key) = carry, x
            scores = self.to_score(jnp.tanh(self.to_query(h2)[:, None] + keys))[..., 0]  # [B, S]
            weights = jax.nn.softmax(jnp.where(valid, scores, -jnp.inf))
            context = (weights[:, None] @ states)[:, 0]
            h1 = self.decoder[0].step(h1, self.decoder[0].project(jnp.concatenate([context, y], -1)))
            h2 = self.decoder[1].step(h2, self.decoder[1].project(dropout(h1, 0.2, step_key)))
            return (h1, h2), h2

        y = self.target[inputs].swapaxes(0, 1)  # [T, B, E]
        step_keys = None if key is None else jax.random.split(decoder_key, len(y))
        _, outputs = lax.scan(step, (lower[:, -1], states[:, -1]), (y, step_keys), unroll=True)
        return self.output(outputs.swapaxes(0, 1))


@workload("gru_seq2seq_step")
def gru_seq2seq_step(state):
    batch = Batch(128, 10, 200)
    model = GruTranslator(
        leaf(200, 256), leaf(200, 256), [make_gru_cell(256, 256), make_gru_cell(256, 256)],
        *(make_linear(256, n, bias=False) for n in (256, 256, 1)),
        [make_gru_cell(512, 256), make_gru_cell(256, 256)], make_linear(256, 200))

    def loss(model, key):
        return cross_entropy_unpadded(model(batch.source, batch.input, batch.valid, key), batch.labels)

    time_training(state, model, Adam(0.005), loss, max_norm=1)


class Gpt(NamedTuple):
    words: Array
    positions: Array
    layers: list
    norm: LayerNorm

    def __call__(self, ids, heads):
        x = self.words[ids] + self.positions
        for layer in self.layers:
            x = layer.pre_norm(x, heads, causal(ids.shape[1]))
        return self.norm(x) @ self.words.T


@workload("gpt_step")
def gpt_step(state):
    x, labels = harness.ids(0, 65, 8, 256), harness.ids(0, 65, 8, 256)
    model = Gpt(leaf(65, 384), leaf(256, 384), [make_encoder_layer(384, 1536) for _ in range(6)], make_layer_norm(384))
    adam = Adam(1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    time_training(state, model, adam, lambda model, key: cross_entropy(model(x, 6), labels), max_norm=1)


if __name__ == "__main__":
    about = f"JAX {jax.__version__}, jit, {harness.THREADS} threads"
    sys.exit(harness.main(about, sys.argv[1:]))
