#include "nn/view/layered.h"

#include <algorithm>
#include <numeric>

namespace heed {
namespace {

constexpr double kApart = 24, kBetweenLayers = 44, kMargin = 16, kWire = 8;

// What stands in a layer: a box, or a piece of an edge that passes through.
struct Item {
  struct End {
    size_t item;
    double aside = 0;  // of the neighbour's centre
  };
  double width;
  size_t layer;
  std::vector<End> above = {}, below = {};  // where its edges end in the layers next to its own
  double centre = 0;
};

double mean_place(const std::vector<Item>& items, const std::vector<Item::End>& ends, double otherwise) {
  if (ends.empty()) return otherwise;
  double sum = 0;
  for (const Item::End& end : ends) sum += items[end.item].centre + end.aside;
  return sum / static_cast<double>(ends.size());
}

// The ends of several edges stand side by side: how far from the left the i-th of them is, in widths.
double share(size_t i, size_t of) { return static_cast<double>(i + 1) / static_cast<double>(of + 1); }

// Centres as near to the wanted ones as the widths allow, in the given order: neighbours that want to overlap
// are moved as one block to the mean of what they want.
void place(std::vector<Item>& items, const std::vector<size_t>& layer, const std::vector<double>& wanted) {
  struct Block {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> offset(layer.size());  // from the first centre, all side by side
  for (size_t i = 1; i < layer.size(); ++i)
    offset[i] = offset[i - 1] + (items[layer[i - 1]].width + items[layer[i]].width) / 2 + kApart;
  std::vector<Block> blocks;
  for (size_t i = 0; i < layer.size(); ++i) {
    blocks.push_back({wanted[i] - offset[i], 1});
    while (blocks.size() > 1 && blocks.back().mean() < blocks[blocks.size() - 2].mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Block& block : blocks)
    for (size_t k = 0; k < block.count; ++k, ++i) items[layer[i]].centre = block.mean() + offset[i];
}

// The order in a layer follows the neighbours on one side.
void sort_and_place(std::vector<Item>& items, std::vector<size_t>& layer,
                    std::vector<Item::End> Item::*side) {
  const auto wanted_by = [&](size_t i) { return mean_place(items, items[i].*side, items[i].centre); };
  std::ranges::stable_sort(layer, {}, wanted_by);
  std::vector<double> wanted;
  for (const size_t i : layer) wanted.push_back(wanted_by(i));
  place(items, layer, wanted);
}

}  // namespace

Layered layered(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges) {
  // How many layers come below each box; then the layers, with a piece of every edge in each that it passes.
  std::vector<size_t> below(boxes.size());
  for (size_t from = boxes.size(); from-- > 0;)
    for (const LayeredEdge& edge : edges)
      if (edge.from == from) below[from] = std::max(below[from], below[edge.to] + 1);
  const size_t depth = boxes.empty() ? 0 : std::ranges::max(below) + 1;
  std::vector<std::vector<size_t>> layers(depth);
  std::vector<Item> items;
  for (size_t i = 0; i < boxes.size(); ++i) {
    layers[depth - 1 - below[i]].push_back(i);
    items.push_back({boxes[i].width, depth - 1 - below[i]});
  }
  std::vector<size_t> arriving(boxes.size()), come(boxes.size());
  for (const LayeredEdge& edge : edges) ++arriving[edge.to];
  std::vector<std::vector<size_t>> pieces(edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    size_t last = edges[e].from;
    const auto connect = [&](size_t next, double aside = 0) {
      items[last].below.push_back({next, aside});
      items[next].above.push_back({last});
      last = next;
    };
    for (size_t layer = depth - below[edges[e].from]; layer < depth - 1 - below[edges[e].to]; ++layer) {
      items.push_back({kWire, layer});
      layers[layer].push_back(items.size() - 1);
      pieces[e].push_back(items.size() - 1);
      connect(items.size() - 1);
    }
    const size_t to = edges[e].to;
    connect(to, (share(come[to]++, arriving[to]) - 0.5) * boxes[to].width);
  }

  for (const std::vector<size_t>& layer : layers) place(items, layer, std::vector<double>(layer.size(), 0));
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (size_t i = 1; i < depth; ++i) sort_and_place(items, layers[i], &Item::above);
    for (size_t i = depth; i-- > 1;) sort_and_place(items, layers[i - 1], &Item::below);
  }

  Layered drawn{std::move(boxes), std::move(edges)};
  double least = 0;
  for (const Item& item : items) least = std::min(least, item.centre - item.width / 2);
  for (Item& item : items) {
    item.centre += kMargin - least;
    drawn.width = std::max(drawn.width, item.centre + item.width / 2 + kMargin);
  }
  std::vector<double> top(depth + 1, kMargin), tall(depth);
  for (size_t i = 0; i < depth; ++i) {
    for (const size_t item : layers[i])
      if (item < drawn.boxes.size()) tall[i] = std::max(tall[i], drawn.boxes[item].height);
    for (const size_t item : layers[i]) {
      if (item >= drawn.boxes.size()) continue;
      LayeredBox& box = drawn.boxes[item];
      box.x = items[item].centre - box.width / 2;
      box.y = top[i];
    }
    top[i + 1] = top[i] + tall[i] + kBetweenLayers;
  }
  drawn.height = top[depth] - (depth ? kBetweenLayers : 0) + kMargin;

  // From the lower edges of the boxes, in the order of where the edges go; down to the end of the layer,
  // around what comes next; and to the upper edges, in the order in which the edges are given.
  std::vector<std::vector<size_t>> leaving(drawn.boxes.size());
  for (size_t e = 0; e < drawn.edges.size(); ++e) leaving[drawn.edges[e].from].push_back(e);
  for (size_t i = 0; i < drawn.boxes.size(); ++i) {
    const LayeredBox& box = drawn.boxes[i];
    std::ranges::stable_sort(leaving[i], {}, [&](size_t e) {
      return items[pieces[e].empty() ? drawn.edges[e].to : pieces[e][0]].centre;
    });
    for (size_t k = 0; k < leaving[i].size(); ++k) {
      const double x = box.x + box.width * share(k, leaving[i].size());
      const size_t layer = items[i].layer;
      drawn.edges[leaving[i][k]].points = {{x, box.y + box.height}, {x, top[layer] + tall[layer]}};
    }
  }
  std::ranges::fill(come, 0);
  for (size_t e = 0; e < drawn.edges.size(); ++e) {
    LayeredEdge& edge = drawn.edges[e];
    for (const size_t piece : pieces[e])
      for (const double y : {top[items[piece].layer], top[items[piece].layer] + tall[items[piece].layer]})
        edge.points.push_back({items[piece].centre, y});
    const LayeredBox& to = drawn.boxes[edge.to];
    edge.points.push_back({to.x + to.width * share(come[edge.to]++, arriving[edge.to]), to.y});
  }
  return drawn;
}

}  // namespace heed
