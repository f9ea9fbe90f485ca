#pragma once

#include "network/from_onnx/imported_graph.h"

namespace engine::network {

/// The rules that put layers together again which exporters take apart. A rule looks at one step, and is
/// true if it changed the graph.
class Lifter {
public:
    explicit Lifter(ImportedGraph& graph) : graph_(graph) {}
    void run();

private:
    using Dims = std::vector<std::int64_t>;
    void apply(bool (Lifter::*rule)(int));
    /// Between two passes a value may have a user too many, which only puts a rule off.
    void note_user(int at);
    void replace(int old, int now);
    ImportedStep& step(int at) { return graph_.step(at); }
    const std::vector<int>& users(int value) const { return users_[static_cast<std::size_t>(value)]; }
    int rank(int value) const { return static_cast<int>(graph_.value(value).sizes.size()); }
    /// The step of this kind that gives the value, which nothing else takes; -1: another one.
    int maker(int value, const char* kind);
    bool is(int value, double number);
    /// The input of a pair beside a number; -1: the other one is none.
    int beside(int at, double number);
    /// A constant row of so many numbers.
    int row(int value, const Extent& count);
    /// `at` becomes a layer in the place of all steps that led to it.
    void become(int at, const std::string& kind, const std::string& arguments, std::vector<int> inputs);
    /// MatMul and Add are a linear layer.
    bool bias(int at);
    /// Two orders of dimensions are one, or none.
    bool permutes(int at);
    /// One place of dimensions in another order is that place in the first order.
    bool selected(int at);
    bool layer_norm(int at);
    bool normalised(int at, int ratio, int weight, int bias);
    /// x / 2 * (1 + erf(x / sqrt(2))), in any order.
    bool normal_gelu(int at);
    /// x times its sigmoid is SiLU, and times its hard sigmoid Hardswish.
    bool gated(int at);
    /// x times 1 / share where a random number is below the share, else 0.
    bool dropout(int at);
    /// x * relu6(x + 3) / 6, in any order; and relu6(x + 3) / 6 alone.
    bool hard_swish(int at);
    /// Adds a step at the place of another one, before or behind it.
    int insert(int at, bool behind, ImportedStep made, Extents sizes);
    /// Queries, keys or values of all heads: features of a value with three dimensions.
    struct Heads {
        int base = -1;
        int axes[3] = {0, 0, 0};  ///< of N, T and F
        std::int64_t offset = 0, heads = 1, features = 0;
        double scale = 1;
    };
    /// Heads of a value of N x heads x T x F/heads, the last two exchanged if `turned`. Nothing: it is no view of such features.
    std::optional<Heads> heads_of(int value, bool turned);
    /// N x T x F of the heads.
    int joined_heads(int at, const Heads& heads);
    /// softmax(q k' / sqrt(d)) v over heads.
    bool attention(int at);
    /// One projection to queries, keys and values, and one behind the attention.
    bool multihead(int at);
    /// A linear layer on the rows of several dimensions, joined and parted again.
    bool joined_rows(int at);
    /// A linear layer on values in another order gives its own in that order.
    bool turned_rows(int at);
    /// A reshape that changes nothing any more.
    bool same_shape_again(int at);
    void sort_steps();
    /// A recurrent layer that takes another one's sequence alone is its next layer.
    bool stacked(int at);
    /// A factor is a number of Scale.
    bool scaled(int at);
    void drop_unused();

    ImportedGraph& graph_;
    std::vector<std::vector<int>> users_;
};

}  // namespace engine::network
