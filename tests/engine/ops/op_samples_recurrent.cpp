#include "op_samples.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

using In = const TensorList&;

/// Concatenates all results, so that each contributes to the gradients.
Tensor together(const TensorList& results) {
    TensorList flat;
    for (const auto& t : results) flat.push_back(reshape(t, {t.numel()}));
    return cat(flat, 0);
}

TensorList rest(In x, std::size_t from) { return {x.begin() + static_cast<long>(from), x.end()}; }

/// Adds the shapes of the weights of `layers` layers in `directions` directions.
std::vector<Shape> with_weights(std::vector<Shape> shapes, std::int64_t gates, std::int64_t in,
                                std::int64_t hidden, std::int64_t layers, std::int64_t directions,
                                bool biases) {
    for (std::int64_t layer = 0; layer < layers; ++layer)
        for (std::int64_t side = 0; side < directions; ++side) {
            const std::int64_t from = layer == 0 ? in : hidden * directions;
            shapes.push_back({gates * hidden, from});
            shapes.push_back({gates * hidden, hidden});
            if (biases) shapes.insert(shapes.end(), 2, Shape{gates * hidden});
        }
    return shapes;
}

void add_cells(std::vector<OpSample>& out) {
    const auto shapes = [](std::int64_t gates, bool biases) {
        return with_weights({{3, 2}, {3, 4}}, gates, 2, 4, 1, 1, biases);
    };
    out.insert(out.end(),
               {{"rnn_tanh_cell", "biases",
                 [](In x) {
                     return rnn_tanh_cell(x[0], x[1], {x[2], x[3], x[4], x[5]});
                 },
                 shapes(1, true), -1, 1},
                {"rnn_relu_cell", "plain",
                 [](In x) {
                     return rnn_relu_cell(x[0], x[1], {x[2], x[3], {}, {}});
                 },
                 shapes(1, false), -1, 1},
                {"gru_cell", "biases",
                 [](In x) {
                     return gru_cell(x[0], x[1], {x[2], x[3], x[4], x[5]});
                 },
                 shapes(3, true), -1, 1},
                {"gru_cell",
                 "onebias",
                 [](In x) {
                     return gru_cell(x[0], x[1], {x[2], x[3], {}, x[4]});
                 },
                 {{1, 2}, {1, 2}, {6, 2}, {6, 2}, {6}},
                 -1,
                 1},
                {"lstm_cell", "plain",
                 [](In x) {
                     return together(lstm_cell(x[0], x[1], x[1], {x[2], x[3], {}, {}}));
                 },
                 shapes(4, false), -1, 1},
                {"lstm_cell", "biases",
                 [](In x) {
                     return together(lstm_cell(x[0], x[1], x[2], {x[3], x[4], x[5], x[6]}));
                 },
                 with_weights({{2, 3}, {2, 2}, {2, 2}}, 4, 3, 2, 1, 1, true), -1, 1}});
}

/// Drops the workspace, which has no gradient.
Tensor states_of(TensorList results) {
    results.pop_back();
    return together(results);
}

void add_fused_cells(std::vector<OpSample>& out) {
    const char *lstm = "_thnn_fused_lstm_cell", *gru = "_thnn_fused_gru_cell";
    out.insert(out.end(),
               {{lstm,
                 "plain",
                 [](In x) { return states_of(thnn_fused_lstm_cell(x[0], x[1], x[2])); },
                 {{3, 8}, {3, 8}, {3, 2}}},
                {lstm,
                 "biases",
                 [](In x) { return states_of(thnn_fused_lstm_cell(x[0], x[1], x[2], x[3], x[4])); },
                 {{2, 12}, {2, 12}, {2, 3}, {12}, {12}}},
                {gru,
                 "plain",
                 [](In x) { return states_of(thnn_fused_gru_cell(x[0], x[1], x[2])); },
                 {{3, 6}, {3, 6}, {3, 2}}},
                {gru,
                 "biases",
                 [](In x) { return states_of(thnn_fused_gru_cell(x[0], x[1], x[2], x[3], x[4])); },
                 {{2, 9}, {2, 9}, {2, 3}, {9}, {9}}}});
}

void add_sequences(std::vector<OpSample>& out) {
    // Three sequences of 3, 2 and 2 steps, and two of 2 and 1.
    const std::vector<std::int64_t> packed{3, 3, 1}, pair{2, 1};
    out.insert(out.end(),
               {{"rnn_tanh", "twolayers",
                 [](In x) { return together(rnn_tanh(x[0], x[1], rest(x, 2), {.num_layers = 2})); },
                 with_weights({{3, 2, 2}, {2, 2, 3}}, 1, 2, 3, 2, 1, true), -1, 1},
                {"rnn_relu", "bidirectional",
                 [](In x) {
                     return together(rnn_relu(
                         x[0], x[1], rest(x, 2),
                         {.has_biases = false, .bidirectional = true, .batch_first = true}));
                 },
                 with_weights({{2, 3, 2}, {2, 2, 2}}, 1, 2, 2, 1, 2, false), 0.1, 1},
                {"gru", "packed",
                 [packed](In x) {
                     return together(gru(x[0], x[1], rest(x, 2),
                                         {.bidirectional = true, .batch_sizes = packed}));
                 },
                 with_weights({{7, 2}, {2, 3, 2}}, 3, 2, 2, 1, 2, true), -1, 1},
                {"gru", "plain",
                 [](In x) { return gru(x[0], x[1], rest(x, 2), {.has_biases = false})[0]; },
                 with_weights({{2, 1, 2}, {1, 1, 2}}, 3, 2, 2, 1, 1, false), -1, 1},
                {"lstm", "plain",
                 [](In x) {
                     return together(lstm(x[0], {x[1], x[2]}, rest(x, 3), {}));
                 },
                 with_weights({{3, 2, 2}, {1, 2, 2}, {1, 2, 2}}, 4, 2, 2, 1, 1, true), -1, 1},
                {"lstm", "packedlayers",
                 [pair](In x) {
                     return together(lstm(x[0], {x[1], x[2]}, rest(x, 3),
                                          {.has_biases = false,
                                           .num_layers = 2,
                                           .bidirectional = true,
                                           .batch_sizes = pair}));
                 },
                 with_weights({{3, 2}, {4, 2, 1}, {4, 2, 1}}, 4, 2, 1, 2, 2, false), -1, 1}});
}

}  // namespace

void add_recurrent_samples(std::vector<OpSample>& out) {
    add_cells(out);
    add_fused_cells(out);
    add_sequences(out);
}

}  // namespace engine
