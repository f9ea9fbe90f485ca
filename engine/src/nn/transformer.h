#pragma once

#include "nn/layers.h"
#include "ops/norm/layer_norm.h"
#include "tensor/random_source.h"

// Parts of Transformers. Between layers a batch is (rows, width), one row a token, sample after
// sample, so that every linear layer is one product of matrices.
namespace engine {

/// The random numbers of one block. Copies draw the same ones, so a recomputed block drops the same
/// values.
class DropoutDraws {
public:
    /// Nothing is dropped: evaluation, or no dropout.
    DropoutDraws() = default;
    /// Takes the next `count` numbers of the step.
    DropoutDraws(StepRandom& random, std::int64_t count)
        : source_(random.source()), next_(random.take(count)) {}

    const std::optional<RandomSource>& source() const { return source_; }
    std::uint64_t take(std::int64_t count) {
        const std::uint64_t first = next_;
        next_ += static_cast<std::uint64_t>(source_ ? source_->share.of_all(count) : count);
        return first;
    }

private:
    std::optional<RandomSource> source_;
    std::uint64_t next_ = 0;
};

struct Dropout {
    ModuleName module;
    double p = 0;
    Dropout() = default;
    Dropout(const std::string& name, double p_) : module(name), p(p_) {}
    Tensor operator()(const Tensor& x, DropoutDraws& draws) const;
};

/// Normalises over the last dimension; weight 1 and bias 0 at the start.
struct LayerNorm {
    ModuleName module;
    Tensor weight, bias;
    double eps = 1e-5;
    LayerNorm() = default;
    LayerNorm(TensorRegistry& registry, const std::string& name, std::int64_t width, double eps_);
    Tensor operator()(const Tensor& x) const;
    /// x + around, and the norm of the sum. The sum does not belong to the norm's module; one node
    /// of the tape for the two does.
    SumAndNorm of_sum(const Tensor& x, const Tensor& around) const;
    /// Whether of_sum() of a suitable x may be one node.
    static bool may_join_sum() noexcept;
};

/// y = x weight + bias of rows x (rows, in): GPT-2's linear layer, whose weight is (in, out).
/// Weight normal, bias 0.
struct Conv1D {
    ModuleName module;
    Tensor weight, bias;
    Conv1D() = default;
    Conv1D(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
           double deviation);
    Tensor operator()(const Tensor& x) const;
};

/// How rows belong together.
struct TokenRows {
    std::int64_t samples = 0, tokens = 0;
    std::int64_t rows() const { return samples * tokens; }
};

struct AttentionHeads {
    std::int64_t heads = 1;
    bool is_causal = false;
    Dropout dropout;  ///< of the weights; `random` numbers by draws()

    /// How many numbers its dropout takes.
    std::int64_t draws(const TokenRows& of) const {
        return dropout.p > 0 ? of.rows() * heads * of.tokens : 0;
    }
    /// q, k and v (rows, width) -> (rows, width): each sample's tokens attend to each other.
    Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const TokenRows& of,
                      DropoutDraws& draws) const;
};

}  // namespace engine
