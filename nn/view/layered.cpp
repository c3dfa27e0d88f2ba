#include "nn/view/layered.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>

namespace heed {
namespace {

constexpr double kBoxGap = 24, kLayerGap = 44, kMargin = 16, kEdgeWidth = 8;

// An item of a layer: a box, or a piece of an edge that passes through the layer.
struct Item {
  struct Neighbor {
    const Item* item;
    double offset;  // of the end of the edge from the neighbor's center
  };
  double width, height;
  size_t layer;
  std::vector<Neighbor> above = {}, below = {};  // in the adjacent layers
  double center = 0, wanted_center = 0;
};
using Items = std::vector<Item*>;

struct Layout {
  Layered drawing;
  std::vector<LayeredBox>& boxes = drawing.boxes;
  std::vector<LayeredEdge>& edges = drawing.edges;
  std::deque<Item> items = {};                // the boxes, then the pieces of edges
  std::vector<Items> layers = {};             // the items of each layer, from left to right
  std::vector<Items> paths = {};              // of each edge: its upper box, its pieces, its lower box
  std::vector<double> entries = {};           // where each edge enters its lower box
  std::vector<double> top = {}, bottom = {};  // of each layer

  Layered run() {
    assign_layers();
    split_edges();
    for (const Items& layer : layers) place(layer);
    for (int sweep = 0; sweep < 12; ++sweep) {
      for (Items& layer : layers | std::views::drop(1)) sort_and_place(layer, &Item::above);
      for (Items& layer : layers | std::views::reverse | std::views::drop(1))
        sort_and_place(layer, &Item::below);
    }
    set_positions();
    route_edges();
    return std::move(drawing);
  }

  // Each box is one layer above the highest box that its edges lead to.
  void assign_layers() {
    std::vector<size_t> height(boxes.size());  // the number of layers below a box
    for (size_t from = boxes.size(); from-- > 0;)
      for (const LayeredEdge& edge : edges)
        if (edge.from == from) height[from] = std::max(height[from], height[edge.to] + 1);
    layers.resize(boxes.empty() ? 0 : std::ranges::max(height) + 1);
    for (size_t i = 0; i < boxes.size(); ++i)
      add_item({boxes[i].width, boxes[i].height, layers.size() - 1 - height[i]});
  }

  Item* add_item(Item item) {
    Item& added = items.emplace_back(std::move(item));
    layers[added.layer].push_back(&added);
    return &added;
  }

  // Adds a piece of each edge to every layer that the edge passes through.
  void split_edges() {
    entries = ends_of_edges(&LayeredEdge::to, std::identity());
    for (size_t e = 0; e < edges.size(); ++e) {
      Item &from = items[edges[e].from], &to = items[edges[e].to];
      Items& path = paths.emplace_back(1, &from);
      for (size_t layer = from.layer + 1; layer < to.layer; ++layer)
        path.push_back(add_item({kEdgeWidth, 0, layer}));
      path.push_back(&to);
      for (size_t i = 1; i < path.size(); ++i) {
        path[i - 1]->below.push_back({path[i], path[i] == &to ? (entries[e] - 0.5) * to.width : 0});
        path[i]->above.push_back({path[i - 1], 0});
      }
    }
  }

  // Where each edge meets its box, as a fraction of the box's width. The edges of a box are side by side, in
  // the order of key(edge).
  std::vector<double> ends_of_edges(size_t LayeredEdge::*end, const auto& key) const {
    std::vector<size_t> order(edges.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, key);
    std::vector<size_t> count(boxes.size()), next(boxes.size());
    for (const LayeredEdge& edge : edges) ++count[edge.*end];
    std::vector<double> fractions(edges.size());
    for (const size_t e : order) {
      const size_t box = edges[e].*end;
      fractions[e] = static_cast<double>(++next[box]) / static_cast<double>(count[box] + 1);
    }
    return fractions;
  }

  // Sorts a layer by the mean position of the neighbors on one side, and moves its items close to it.
  void sort_and_place(Items& layer, std::vector<Item::Neighbor> Item::*side) {
    for (Item* item : layer) {
      const std::vector<Item::Neighbor>& neighbors = item->*side;
      double sum = 0;
      for (const auto& [neighbor, offset] : neighbors) sum += neighbor->center + offset;
      item->wanted_center = neighbors.empty() ? item->center : sum / static_cast<double>(neighbors.size());
    }
    std::ranges::stable_sort(layer, {}, &Item::wanted_center);
    place(layer);
  }

  // Sets the centers of a layer's items as close to the wanted ones as the widths allow, in the given order.
  // Items that would overlap form a block, at the mean position that they want.
  static void place(const Items& layer) {
    struct Block {
      double sum;
      size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offset(layer.size());  // from the first center if all items are side by side
    std::vector<Block> blocks;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) offset[i] = offset[i - 1] + (layer[i - 1]->width + layer[i]->width) / 2 + kBoxGap;
      Block block{layer[i]->wanted_center - offset[i], 1};
      for (; !blocks.empty() && block.mean() < blocks.back().mean(); blocks.pop_back())
        block = {blocks.back().sum + block.sum, blocks.back().count + block.count};
      blocks.push_back(block);
    }
    size_t i = 0;
    for (const Block& block : blocks)
      for (size_t k = 0; k < block.count; ++k, ++i) layer[i]->center = block.mean() + offset[i];
  }

  // Moves everything to the right of the left margin, and the layers below each other.
  void set_positions() {
    double left = 0;
    for (const Item& item : items) left = std::min(left, item.center - item.width / 2);
    for (Item& item : items) {
      item.center += kMargin - left;
      drawing.width = std::max(drawing.width, item.center + item.width / 2 + kMargin);
    }
    for (const Items& layer : layers) {
      top.push_back(top.empty() ? kMargin : bottom.back() + kLayerGap);
      bottom.push_back(top.back() + std::ranges::max(layer, {}, &Item::height)->height);
    }
    drawing.height = (bottom.empty() ? kMargin : bottom.back()) + kMargin;
    for (size_t i = 0; i < boxes.size(); ++i) {
      boxes[i].x = items[i].center - boxes[i].width / 2;
      boxes[i].y = top[items[i].layer];
    }
  }

  // Each edge leaves its box in the order of where the edges lead, goes straight down to the end of the
  // layer, and passes its pieces in the layers between.
  void route_edges() {
    const auto exits = ends_of_edges(&LayeredEdge::from, [&](size_t e) { return paths[e][1]->center; });
    for (size_t e = 0; e < edges.size(); ++e) {
      const LayeredBox &from = boxes[edges[e].from], &to = boxes[edges[e].to];
      const Items& path = paths[e];
      const double x = from.x + from.width * exits[e];
      std::vector<LayeredPoint>& points = edges[e].points;
      points = {{x, from.y + from.height}, {x, bottom[path[0]->layer]}};
      for (size_t i = 1; i + 1 < path.size(); ++i)
        for (const double y : {top[path[i]->layer], bottom[path[i]->layer]})
          points.push_back({path[i]->center, y});
      points.push_back({to.x + to.width * entries[e], to.y});
    }
  }
};

}  // namespace

Layered layered(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges) {
  return Layout{{std::move(boxes), std::move(edges)}}.run();
}

}  // namespace heed
