"""Models of PyTorch for check_import.py."""

import torch
import torch.nn.functional as F
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.layers = kind(8, 6, batch_first=True, **options)
        self.out = nn.Linear(12 if options.get("bidirectional") else 6, 5)

    def forward(self, x):
        return self.out(self.layers(self.embedding(x))[0])


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2), nn.GroupNorm(2, 8), nn.SiLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(8, 10))  # fmt: skip

    def forward(self, x):
        return self.layers(x)


class Signals(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1)
        self.signals = nn.Conv1d(3, 4, 5, padding=2)
        self.norm = nn.BatchNorm1d(4)
        self.out = nn.ConvTranspose1d(4, 2, 4, stride=2)

    def forward(self, x):
        y = self.norm(self.signals(self.images(x).flatten(2))).relu()
        return self.out(F.avg_pool1d(F.max_pool1d(y, 3, 2, 1), 2))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(16, 11)

    def forward(self, x):
        return self.out(self.layers(self.embedding(x) * 4.0))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16)
        self.layers = nn.Transformer(16, 4, 1, 1, 32, batch_first=True)
        self.out = nn.Linear(16, 11)

    def forward(self, x, y):
        mask = nn.Transformer.generate_square_subsequent_mask(y.shape[1])
        return self.out(self.layers(self.embedding(x), self.embedding(y), tgt_mask=mask, tgt_is_causal=True))


class LanguageModel(nn.Module):
    """Rotary positions, causal attention, RMSNorm, GELU by tanh, tied weights."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16)
        self.heads, self.join = nn.Linear(16, 48), nn.Linear(16, 16)
        self.norm, self.last_norm = nn.RMSNorm(16), nn.LayerNorm(16)

    def forward(self, x):
        batch, time = x.shape
        h = self.embedding(x) + self.embedding.weight[torch.arange(time) % 11]
        q, k, v = (z.view(batch, time, 4, 4).transpose(1, 2) for z in self.heads(self.norm(h)).chunk(3, -1))
        angles = torch.outer(torch.arange(time).float(), 100.0 ** (-torch.arange(0, 4, 2) / 4.0))
        angles = torch.cat([angles, angles], -1)

        def rotate(z):
            return z * angles.cos() + torch.cat([-z[..., 2:], z[..., :2]], -1) * angles.sin()

        z = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        h = h + self.join(z.transpose(1, 2).reshape(batch, time, 16))
        return F.linear(self.last_norm(F.gelu(h, approximate="tanh")), self.embedding.weight)


class Speller(nn.Module):
    """A GRU encoder and a decoder that attends to it."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.encoder = nn.GRU(8, 6, batch_first=True, bidirectional=True, num_layers=2)
        self.cell, self.query, self.out = nn.GRUCell(20, 12), nn.Linear(12, 12), nn.Linear(12, 11)

    def forward(self, x, y):
        keys, _ = self.encoder(self.embedding(x))
        h, outputs = keys.mean(1), []
        for t in range(3):
            scores = torch.einsum("bd,btd->bt", self.query(h), keys)
            weights = scores.masked_fill(x == 0, float("-inf")).softmax(-1)
            context = (weights.unsqueeze(-1) * keys).sum(1)
            h = self.cell(torch.cat([self.embedding(y[:, t]), context], -1), h)
            outputs.append(self.out(h))
        z = torch.stack(outputs, 1)
        return z.log_softmax(-1), z.argmax(-1), z.topk(2).values


def models():
    """Yields names, models and inputs."""
    torch.manual_seed(0)
    words, others = torch.randint(1, 11, (2, 7)), torch.randint(1, 11, (2, 5))
    mlp = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.LeakyReLU(), nn.Linear(8, 3), nn.Softmax(-1))
    yield "mlp", mlp, (torch.randn(5, 4),)
    yield "cnn", Images(), (torch.randn(2, 1, 12, 12),)
    yield "signals", Signals(), (torch.randn(2, 2, 5, 6),)
    yield "rnn", Recurrent(nn.RNN), (words,)
    yield "gru", Recurrent(nn.GRU, num_layers=2), (words,)
    yield "lstm", Recurrent(nn.LSTM, bidirectional=True), (words,)
    yield "encoder", Encoder(), (words,)
    yield "translator", Translator(), (words, others)
    yield "language_model", LanguageModel(), (words,)
    yield "speller", Speller(), (words, others)
