#include "models/network_cost.h"

#include <algorithm>
#include <array>
#include <set>

#include "models/op_memory.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/similarity.h"
#include "ops/loss/cross_entropy.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/dropout.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pool/pool.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/view.h"
#include "tensor/memory/memory_cache.h"

namespace engine::network {
namespace {

template <std::size_t count>
bool is_one_of(const Op* op, const std::array<const Op*, count>& ops) {
    return std::ranges::find(ops, op) != ops.end();
}

bool is_recurrent(const Op* op) {
    static constexpr std::array all = {&rnn_tanh_op, &lstm_op, &gru_op};
    return is_one_of(op, all);
}

/// A transposed convolution adds its bias in f32, outside the convolution.
bool adds_bias_in_f32(const TypedCall& call) {
    static constexpr std::array all = {&conv_transpose1d_op, &conv_transpose2d_op, &conv_transpose3d_op};
    return call.used.size() > 2 && is_one_of(call.op, all);
}

double count_gates(const Op* recurrent) { return recurrent == &lstm_op ? 4 : recurrent == &gru_op ? 3 : 1; }

/// Operations whose gradients lie in the memory of their result's.
bool passes_gradient(const Op* op) {
    static constexpr std::array all = {&add_op, &sub_op, &reshape_op, &permute_op, &cat_op};
    return is_one_of(op, all);
}

double bytes(double elements, DType type) { return elements * static_cast<double>(size_of(type)); }

constexpr std::array row_norms = {&layer_norm_op, &rms_norm_op};

/// Whether its gradient is computed in the order in memory that its result has.
bool keeps_order(const TypedCall& call) {
    static constexpr std::array products = {&linear_op, &conv1d_op, &conv2d_op, &conv3d_op, &matmul_op, &scaled_dot_product_attention_op};
    static constexpr std::array pools = {&max_pool2d_op, &avg_pool2d_op, &adaptive_max_pool2d_op, &adaptive_avg_pool2d_op};
    if (call.op == &mul_op && call.used.back().is_number) return false;
    return is_one_of(call.op, pools) || (read_by_gradient(*call.op) != Reads::nothing && !is_one_of(call.op, products));
}

class PassRun {
public:
    PassRun(const NetworkGraph& graph, const TypedForward& forward, const std::vector<DType>& gradient_types)
        : graph_(graph), calls_(forward.calls), blocks_(forward.blocks), gradient_types_(gradient_types) {
        memory_.saved.assign(graph.nodes.size(), 0);
        if (!calls_.empty() && forward.result.learns) {
            add_loss(forward.result);
            forget_unread();
        }
        grads_.assign(calls_.size(), {});
        extra_.assign(calls_.size(), 0);
        readers_.assign(blocks_.size(), 0);
        last_.assign(blocks_.size(), -1);
        own_.assign(blocks_.size(), -1);
        exact_ = blocks_;
        for (double& each : blocks_) each = block_bytes(each);
    }

    PassMemory run() {
        if (calls_.empty()) return memory_;
        find_readers();
        forward();
        memory_.activations = live_;
        for (std::size_t i = calls_.size(); i-- > 0;)
            if (calls_[i].result.learns) backward(i);
        return memory_;
    }

private:
    struct Gradient {
        int block = -1;  // in gradient_blocks_; -1: none
        double elements = 0;
        DType type = DType::f32;
        bool in_rows = false;  // and the value is not
    };
    struct GradientBlock {
        double bytes = 0;
        int holders = 0;
    };

    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    /// The loss reads the scores in f32; that of an image keeps its difference to the wanted one.
    void add_loss(const ValueType& scores) {
        TypedCall call{&cross_entropy_op, -1, {scores}, {scores}, scores};
        const bool is_image = graph_.values[at(graph_.outputs.front())].type.rank() == 4;
        if (scores.type != DType::f32 || is_image) {
            call.used.front().type = DType::f32;
            call.used.front().block = static_cast<int>(blocks_.size());
            blocks_.push_back(bytes(scores.elements, DType::f32));
        }
        call.result.elements = 1;
        call.result.made_by = static_cast<int>(calls_.size());
        call.result.block = static_cast<int>(blocks_.size());
        blocks_.push_back(size_of(DType::f32));
        calls_.push_back(std::move(call));
    }

    /// Keeps nothing for results that the loss does not depend on.
    void forget_unread() {
        std::vector<bool> read(calls_.size(), false);
        read.back() = true;
        for (std::size_t i = calls_.size(); i-- > 0;) {
            if (!read[i]) calls_[i].result.learns = false;
            for (const ValueType& each : calls_[i].used)
                if (read[i] && each.learns && each.made_by >= 0) read[at(each.made_by)] = true;
        }
    }

    std::vector<int> read_blocks(const TypedCall& call) const {
        if (!call.result.learns) return {};
        std::vector<int> out;
        const auto read = [&](const ValueType& value) {
            if (value.block >= 0) out.push_back(value.block);
        };
        const auto read_wide = [&](const ValueType& value) {
            if (!is_low(value.type)) read(value);
        };
        const Reads reads = read_by_gradient(*call.op);
        if (reads == Reads::wide) read_wide(call.used.front());
        if (reads == Reads::wide_inputs) std::ranges::for_each(call.used, read_wide);
        if (reads == Reads::input || reads == Reads::input_and_result) read(call.used.front());
        if (reads == Reads::inputs) std::ranges::for_each(call.used, read);
        if (reads == Reads::factors && call.used.size() == 2) {
            for (const std::size_t i : {0, 1})
                if (call.used[1 - i].learns) read(call.used[i]);
        }
        if (reads == Reads::result || reads == Reads::input_and_result || is_recurrent(call.op)) read(call.result);
        if (is_recurrent(call.op)) read(call.used.front());
        return out;
    }

    /// Bytes that an operation makes for its gradient alone.
    double extra_bytes(const TypedCall& call) const {
        static constexpr std::array norms = {&batch_norm_op, &batch_norm_relu_op};
        static constexpr std::array max_pools = {&max_pool1d_op, &max_pool2d_op, &adaptive_max_pool1d_op, &adaptive_max_pool2d_op};
        static constexpr std::array gathering_pools = {&max_pool3d_op, &adaptive_max_pool3d_op};
        static constexpr std::array power_pools = {&lp_pool1d_op, &lp_pool2d_op, &lp_pool3d_op};
        if (!call.result.learns || call.row < 0) return 0;
        const GraphNode& node = graph_.nodes[at(call.row)];
        if (is_one_of(call.op, norms)) return 2 * bytes(static_cast<double>(graph_.values[at(node.outputs.front())].type.sizes[1].number), DType::f32);
        if (is_one_of(call.op, row_norms) && call.used.size() > 1)
            return (call.op == &layer_norm_op ? 2 : 1) * bytes(call.result.elements / call.used[1].elements, DType::f32);
        if (is_one_of(call.op, max_pools)) return bytes(call.result.elements, DType::i32);
        if (is_one_of(call.op, gathering_pools)) return bytes(call.result.elements, DType::i64);
        // Operations that are made of others, whose values in between are f32.
        const auto wide = [&](double count) { return bytes(count, DType::f32); };
        const double input = call.used.front().elements, result = call.result.elements;
        const bool copies = is_low(call.used.front().type);
        if (call.op == &group_norm_op) return call.used.size() > 1 ? wide(result) : 0;
        // The part below 0, and where it is.
        if (call.op == &prelu_op) return wide(input) + bytes(input, DType::boolean);
        // The means, their signs and sizes, and the sums.
        if (is_one_of(call.op, power_pools)) return wide(4 * result) + (copies ? wide(input) : 0);
        // Lengths and what divides; of two values also their directions.
        if (call.op == &normalize_op) return wide(2 * input / count_along(node, "dim")) + (copies ? wide(input) : 0);
        if (call.op == &cosine_similarity_op) return wide(4 * result + 2 * result * count_along(node, "dim") * (copies ? 2 : 1));
        if (call.op == &dropout_op || call.op == &where_op) return bytes(call.result.elements, DType::boolean);
        return is_recurrent(call.op) ? recurrent_bytes(call, node.arguments) : 0;
    }

    /// The size of a layer's first value along the dimension that an argument names.
    double count_along(const GraphNode& node, std::string_view argument) const {
        const Sizes& sizes = graph_.values[at(node.inputs.front())].type.sizes;
        const std::int64_t given = node.arguments.whole(argument), rank = static_cast<std::int64_t>(sizes.size());
        const Size& size = sizes[static_cast<std::size_t>(given < 0 ? given + rank : given)];
        return size.is_number() ? static_cast<double>(size.number) : 1;
    }

    /// Products with the inputs, cell states, results of the layers below the last, and masks between
    /// layers.
    static double recurrent_bytes(const TypedCall& call, const LayerArguments& arguments) {
        const double layers = static_cast<double>(arguments.whole("num_layers"));
        const double gates = count_gates(call.op);
        const double states = call.op == &lstm_op ? 1 : 0;
        const bool drops = arguments.number("dropout") > 0;
        const double numbers = layers * (gates + states) + (layers - 1) * (drops ? 2 : 1);
        return bytes(numbers * call.result.elements, call.result.type) + (drops ? (layers - 1) * call.result.elements : 0);
    }

    /// Whether a norm's gradient may lie in the memory of what it reads.
    bool overwrites(const TypedCall& call) const {
        const std::string_view kind = graph_.nodes[at(call.row)].kind->name;
        return kind != "BatchNorm3d" && kind != "InstanceNorm2d";
    }

    /// A recurrent layer's gradient has the products of all steps again, their gradients, and the
    /// states before each step.
    double scratch_bytes(const TypedCall& call) const {
        if (adds_bias_in_f32(call)) return is_low(call.result.type) ? 2 * bytes(call.result.elements, call.result.type) + bytes(call.used.front().elements, DType::f32) : 0;
        if (call.op == &batch_norm_op && !overwrites(call)) return bytes(call.result.elements, call.result.type);
        if (!is_recurrent(call.op)) {
            const Scratch scratch = gradient_scratch(*call.op);
            const double elements = std::ranges::max(call.used, {}, &ValueType::elements).elements;
            return elements * (is_low(call.given.front().type) ? scratch.low : scratch.f32);
        }
        const double gates = count_gates(call.op), sides = graph_.nodes[at(call.row)].arguments.flag("bidirectional") ? 2 : 1;
        const double numbers = (call.op == &gru_op ? 3 : 2) * gates + (call.op == &lstm_op ? 2 : 1);
        return bytes(numbers * call.result.elements / sides, call.result.type);
    }

    void find_readers() {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            const TypedCall& call = calls_[i];
            for (const ValueType& each : call.used)
                if (each.block >= 0) last_[at(each.block)] = static_cast<int>(i);
            for (const ValueType& each : call.given)
                if (each.block >= 0) last_[at(each.block)] = static_cast<int>(i);
            if (call.result.block >= 0) last_[at(call.result.block)] = static_cast<int>(i);
            for (const int block : read_blocks(call)) {
                ++readers_[at(block)];
                if (own_[at(block)] < 0) own_[at(block)] = call.row;
            }
        }
    }

    void take(double amount) {
        live_ += amount;
        memory_.peak = std::max(memory_.peak, live_);
    }

    void forward() {
        std::vector<bool> made(blocks_.size(), false);
        std::vector<std::vector<int>> ends(calls_.size());
        for (std::size_t block = 0; block < blocks_.size(); ++block)
            if (last_[block] >= 0) ends[at(last_[block])].push_back(static_cast<int>(block));
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            const TypedCall& call = calls_[i];
            const auto make = [&](const ValueType& value) {
                if (value.block < 0 || made[at(value.block)]) return;
                made[at(value.block)] = true;
                take(blocks_[at(value.block)]);
            };
            std::ranges::for_each(call.used, make);
            make(call.result);
            const double extra = extra_bytes(call);
            extra_[i] = extra > 0 ? block_bytes(extra) : 0;
            take(extra_[i]);
            if (adds_bias_in_f32(call)) {
                const double scratch = bytes(call.result.elements, DType::f32) * (is_low(call.result.type) ? 2 : 1);
                take(scratch);
                live_ -= scratch;
            }
            if (call.row >= 0) memory_.saved[at(call.row)] += extra;
            for (const int block : ends[i])
                if (readers_[at(block)] == 0) live_ -= blocks_[at(block)];
        }
        for (std::size_t block = 0; block < blocks_.size(); ++block)
            if (own_[block] >= 0) memory_.saved[at(own_[block])] += exact_[block];
    }

    int new_gradient(double amount) {
        gradient_blocks_.push_back({block_bytes(amount), 1});
        take(gradient_blocks_.back().bytes);
        return static_cast<int>(gradient_blocks_.size()) - 1;
    }
    void release_gradient(int block) {
        GradientBlock& own = gradient_blocks_[at(block)];
        if (--own.holders == 0) live_ -= own.bytes;
    }

    void give(int call, Gradient gradient) {
        Gradient& slot = grads_[at(call)];
        if (slot.block < 0) {
            slot = gradient;
            return;
        }
        const int sum = new_gradient(bytes(slot.elements, slot.type));
        release_gradient(slot.block);
        release_gradient(gradient.block);
        slot.block = sum;
    }

    void release_saved(int block) {
        if (--readers_[at(block)] == 0) live_ -= blocks_[at(block)];
    }

    void backward(std::size_t index) {
        const TypedCall& call = calls_[index];
        const std::vector<int> read = read_blocks(call);
        Gradient dy = grads_[index];
        const bool turned = (dy.in_rows && keeps_order(call)) || (is_one_of(call.op, row_norms) && call.used.front().order != ElementOrder::rows);
        const double copy = turned ? block_bytes(bytes(dy.elements, dy.type)) : 0;
        take(copy);
        const double scratch = scratch_bytes(call);
        if (index + 1 == calls_.size()) dy = {new_gradient(bytes(call.result.elements, call.result.type)), call.result.elements, call.result.type};
        if (dy.block >= 0) {
            // A recurrent layer's are gone before the gradient of its input is made.
            if (is_recurrent(call.op)) {
                take(scratch);
                live_ -= scratch;
            }
            std::vector<std::pair<int, Gradient>> found;
            for (std::size_t i = 0; i < call.used.size(); ++i) {
                const ValueType &used = call.used[i], &given = call.given[i];
                if (!used.learns || given.made_by < 0) continue;
                found.emplace_back(given.made_by, operand_gradient(call, i, dy));
            }
            make_weight_gradients(index);
            if (!is_recurrent(call.op)) {
                take(scratch);
                live_ -= scratch;
            }
            release_gradient(dy.block);
            for (const auto& [maker, gradient] : found) give(maker, gradient);
        }
        live_ -= copy;
        for (const int block : read) release_saved(block);
        live_ -= extra_[index];
    }

    Gradient operand_gradient(const TypedCall& call, std::size_t operand, const Gradient& dy) {
        const ValueType &used = call.used[operand], &given = call.given[operand];
        const bool is_copied = call.op == &reshape_op && call.result.block != used.block && given.order != ElementOrder::rows;
        Gradient out{-1, given.elements, given.type, is_copied || (dy.in_rows && passes_gradient(call.op))};
        const bool is_norm = call.op == &batch_norm_op || call.op == &batch_norm_relu_op;
        const bool shares = passes_gradient(call.op) || (is_norm && operand > 0);
        if (shares && (used.elements == dy.elements || call.op == &cat_op) && used.type == dy.type) {
            out.block = dy.block;
            ++gradient_blocks_[at(dy.block)].holders;
        } else if (is_norm && overwrites(call) && used.block >= 0 && readers_[at(used.block)] == 1) {
            // On a CPU it overwrites what only this gradient reads.
            ++readers_[at(used.block)];
            live_ -= blocks_[at(used.block)];
            blocks_[at(used.block)] = 0;
            out.block = new_gradient(bytes(used.elements, used.type));
            --readers_[at(used.block)];
        } else {
            out.block = new_gradient(bytes(used.elements, used.type));
        }
        if (used.type == given.type) return out;
        const int cast = new_gradient(bytes(given.elements, given.type));
        release_gradient(out.block);
        out.block = cast;
        return out;
    }

    /// Gradients of a layer's parameters come with that of its last operation.
    void make_weight_gradients(std::size_t index) {
        const int row = calls_[index].row;
        if (row < 0 || (index + 1 < calls_.size() && calls_[index + 1].row == row)) return;
        for (const int parameter : graph_.nodes[at(row)].parameters) {
            const GraphParameter& own = graph_.parameters[at(parameter)];
            if (own.fixed || !with_gradient_.insert(parameter).second) continue;
            double elements = 1;
            for (const std::int64_t size : own.sizes) elements *= static_cast<double>(size);
            const double amount = block_bytes(bytes(elements, gradient_types_[at(parameter)]));
            memory_.gradients += amount;
            take(amount);
        }
    }

    const NetworkGraph& graph_;
    std::vector<TypedCall> calls_;
    std::vector<double> blocks_, exact_;  // bytes of each block, with its rounding and without
    const std::vector<DType>& gradient_types_;
    std::vector<int> readers_, last_, own_;  // of each block: gradients that read it, its last call, the row that keeps it
    std::vector<double> extra_;              // of each call
    std::vector<Gradient> grads_;            // of each call's result
    std::vector<GradientBlock> gradient_blocks_;
    std::set<int> with_gradient_;
    double live_ = 0;
    PassMemory memory_;
};

}  // namespace

double block_bytes(double bytes) {
    constexpr double exact = static_cast<double>(std::int64_t{1} << 53);
    return bytes > exact ? bytes : static_cast<double>(block_size(static_cast<std::size_t>(bytes), Device{}));
}

PassMemory count_pass_memory(const NetworkGraph& graph, const TypedForward& forward, const std::vector<DType>& gradient_types) {
    return PassRun(graph, forward, gradient_types).run();
}

}  // namespace engine::network
