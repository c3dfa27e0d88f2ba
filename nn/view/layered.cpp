#include "nn/view/layered.h"

#include <algorithm>
#include <numeric>

namespace heed {
namespace {

constexpr double kBoxGap = 24, kLayerGap = 44, kMargin = 16, kEdgeWidth = 8;

// An item of a layer: a box (items 0 to boxes - 1), or a piece of an edge that passes through the layer.
struct Item {
  struct Neighbor {
    size_t item;
    double offset;  // of the end of the edge from the neighbor's center
  };
  double width;
  size_t layer;
  std::vector<Neighbor> above = {}, below = {};  // in the adjacent layers
  double center = 0;
};

class Layout {
 public:
  Layout(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges)
      : drawing_{std::move(boxes), std::move(edges)} {}

  Layered run() {
    assign_layers();
    split_edges();
    for (const std::vector<size_t>& layer : layers_) place(layer, std::vector<double>(layer.size()));
    for (int sweep = 0; sweep < 12; ++sweep) {
      for (size_t i = 1; i < layers_.size(); ++i) sort_and_place(layers_[i], &Item::above);
      for (size_t i = layers_.size(); i-- > 1;) sort_and_place(layers_[i - 1], &Item::below);
    }
    set_columns();
    set_rows();
    route_edges();
    return std::move(drawing_);
  }

 private:
  // Each box is one layer above the highest box that its edges lead to.
  void assign_layers() {
    std::vector<size_t> height(boxes_.size());  // the number of layers below a box
    for (size_t from = boxes_.size(); from-- > 0;)
      for (const LayeredEdge& edge : edges_)
        if (edge.from == from) height[from] = std::max(height[from], height[edge.to] + 1);
    layers_.resize(boxes_.empty() ? 0 : std::ranges::max(height) + 1);
    for (size_t i = 0; i < boxes_.size(); ++i) add_item(boxes_[i].width, layers_.size() - 1 - height[i]);
  }

  void add_item(double width, size_t layer) {
    layers_[layer].push_back(items_.size());
    items_.push_back({width, layer});
  }

  // Adds a piece of each edge to every layer that the edge passes through.
  void split_edges() {
    order_.resize(edges_.size());
    std::iota(order_.begin(), order_.end(), 0);
    entries_ = ends_of_edges(&LayeredEdge::to);
    pieces_.resize(edges_.size());
    for (size_t e = 0; e < edges_.size(); ++e) {
      const size_t from = edges_[e].from, to = edges_[e].to;
      size_t last = from;
      const auto connect = [&](size_t item, double offset) {
        items_[last].below.push_back({item, offset});
        items_[item].above.push_back({last, 0});
        last = item;
      };
      for (size_t layer = items_[from].layer + 1; layer < items_[to].layer; ++layer) {
        pieces_[e].push_back(items_.size());
        add_item(kEdgeWidth, layer);
        connect(pieces_[e].back(), 0);
      }
      connect(to, (entries_[e] - 0.5) * boxes_[to].width);
    }
  }

  // Where each edge meets its box, as a fraction of the box's width. The edges of a box are side by side, in
  // the order of order_.
  std::vector<double> ends_of_edges(size_t LayeredEdge::*end) const {
    std::vector<size_t> count(boxes_.size()), next(boxes_.size());
    for (const LayeredEdge& edge : edges_) ++count[edge.*end];
    std::vector<double> fractions(edges_.size());
    for (const size_t e : order_) {
      const size_t box = edges_[e].*end;
      fractions[e] = static_cast<double>(++next[box]) / static_cast<double>(count[box] + 1);
    }
    return fractions;
  }

  // Sorts a layer by the mean position of the neighbors on one side, and moves its items close to it.
  void sort_and_place(std::vector<size_t>& layer, std::vector<Item::Neighbor> Item::*side) {
    const auto mean_position = [&](size_t i) {
      const std::vector<Item::Neighbor>& neighbors = items_[i].*side;
      if (neighbors.empty()) return items_[i].center;
      double sum = 0;
      for (const auto& [item, offset] : neighbors) sum += items_[item].center + offset;
      return sum / static_cast<double>(neighbors.size());
    };
    std::ranges::stable_sort(layer, {}, mean_position);
    std::vector<double> wanted;
    for (const size_t i : layer) wanted.push_back(mean_position(i));
    place(layer, wanted);
  }

  // Sets the centers of a layer's items as close to the wanted ones as the widths allow, in the given order.
  // Items that would overlap form a block, at the mean position that they want.
  void place(const std::vector<size_t>& layer, const std::vector<double>& wanted) {
    struct Block {
      double sum;
      size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offset(layer.size());  // from the first center if all items are side by side
    for (size_t i = 1; i < layer.size(); ++i)
      offset[i] = offset[i - 1] + (items_[layer[i - 1]].width + items_[layer[i]].width) / 2 + kBoxGap;
    std::vector<Block> blocks;
    for (size_t i = 0; i < layer.size(); ++i) {
      Block block{wanted[i] - offset[i], 1};
      for (; !blocks.empty() && block.mean() < blocks.back().mean(); blocks.pop_back())
        block = {blocks.back().sum + block.sum, blocks.back().count + block.count};
      blocks.push_back(block);
    }
    size_t i = 0;
    for (const Block& block : blocks)
      for (size_t k = 0; k < block.count; ++k, ++i) items_[layer[i]].center = block.mean() + offset[i];
  }

  // Moves everything to the right of the left margin.
  void set_columns() {
    double left = 0;
    for (const Item& item : items_) left = std::min(left, item.center - item.width / 2);
    for (Item& item : items_) {
      item.center += kMargin - left;
      drawing_.width = std::max(drawing_.width, item.center + item.width / 2 + kMargin);
    }
    for (size_t i = 0; i < boxes_.size(); ++i) boxes_[i].x = items_[i].center - boxes_[i].width / 2;
  }

  void set_rows() {
    drawing_.height = kMargin;
    for (const std::vector<size_t>& layer : layers_) {
      top_.push_back(top_.empty() ? kMargin : bottom_.back() + kLayerGap);
      bottom_.push_back(top_.back());
      for (const size_t i : layer) {
        if (i >= boxes_.size()) continue;
        boxes_[i].y = top_.back();
        bottom_.back() = std::max(bottom_.back(), top_.back() + boxes_[i].height);
      }
      drawing_.height = bottom_.back();
    }
    drawing_.height += kMargin;
  }

  // Each edge leaves its box in the order of where the edges lead, goes straight down to the end of the
  // layer, and passes its pieces in the layers between.
  void route_edges() {
    const auto next_center = [&](size_t e) {
      return items_[pieces_[e].empty() ? edges_[e].to : pieces_[e][0]].center;
    };
    std::ranges::stable_sort(order_, {}, next_center);
    const std::vector<double> exits = ends_of_edges(&LayeredEdge::from);
    for (size_t e = 0; e < edges_.size(); ++e) {
      const LayeredBox &from = boxes_[edges_[e].from], &to = boxes_[edges_[e].to];
      const double x = from.x + from.width * exits[e];
      std::vector<LayeredPoint>& points = edges_[e].points;
      points = {{x, from.y + from.height}, {x, bottom_[items_[edges_[e].from].layer]}};
      for (const size_t piece : pieces_[e])
        for (const double y : {top_[items_[piece].layer], bottom_[items_[piece].layer]})
          points.push_back({items_[piece].center, y});
      points.push_back({to.x + to.width * entries_[e], to.y});
    }
  }

  Layered drawing_;
  std::vector<LayeredBox>& boxes_ = drawing_.boxes;
  std::vector<LayeredEdge>& edges_ = drawing_.edges;
  std::vector<Item> items_;
  std::vector<std::vector<size_t>> layers_;  // the items of each layer, from left to right
  std::vector<std::vector<size_t>> pieces_;  // the items of each edge, from top to bottom
  std::vector<size_t> order_;                // of the edges that meet at a box, from left to right
  std::vector<double> entries_;              // where each edge enters its lower box
  std::vector<double> top_, bottom_;         // of each layer
};

}  // namespace

Layered layered(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges) {
  return Layout(std::move(boxes), std::move(edges)).run();
}

}  // namespace heed
