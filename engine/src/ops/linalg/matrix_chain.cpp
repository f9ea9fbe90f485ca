#include "ops/linalg/matrix_chain.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

template <Tensor (*op)(const TensorList&)>
TensorList run(const OpArguments& args) {
    const auto found = args.lists.find(0);
    if (found == args.lists.end()) throw Error(ErrorCode::value, "the list of matrices is missing");
    return {op(found->second)};
}

/// Where to split each run of matrices [first, last] so that the whole takes the fewest
/// multiplications (Cormen et al., "Introduction to Algorithms", 15.2).
class Plan {
public:
    explicit Plan(const TensorList& matrices)
        : count_(matrices.size()), split_(count_ * count_), cost_(count_ * count_) {
        for (std::size_t length = 1; length < count_; ++length)
            for (std::size_t first = 0; first + length < count_; ++first)
                choose(matrices, first, first + length);
    }

    Tensor multiply(const TensorList& matrices, std::size_t first, std::size_t last) const {
        if (first == last) return matrices[first];
        const std::size_t at = split_[first * count_ + last];
        return mm(multiply(matrices, first, at), multiply(matrices, at + 1, last));
    }

private:
    // Costs as doubles: products of sizes may leave 64 bits.
    double cost(const TensorList& m, std::size_t first, std::size_t at, std::size_t last) const {
        return cost_[first * count_ + at] + cost_[(at + 1) * count_ + last] +
               static_cast<double>(m[first].size(0)) * static_cast<double>(m[at].size(1)) *
                   static_cast<double>(m[last].size(1));
    }
    void choose(const TensorList& m, std::size_t first, std::size_t last) {
        std::size_t best = first;
        for (std::size_t at = first + 1; at < last; ++at) {
            const double gain = cost(m, first, best, last) - cost(m, first, at, last);
            // PyTorch multiplies three matrices from the left if it costs the same.
            if (gain > 0 || (gain == 0 && count_ == 3)) best = at;
        }
        split_[first * count_ + last] = best;
        cost_[first * count_ + last] = cost(m, first, best, last);
    }

    std::size_t count_;
    std::vector<std::size_t> split_;
    std::vector<double> cost_;
};

/// The product of matrices of one type.
Tensor chain(const OpInfo& info, const TensorList& matrices) {
    for (const auto& matrix : matrices) {
        check_rank(info, matrix, 2);
        one_type(info, {matrices[0], matrix});
    }
    for (std::size_t i = 1; i < matrices.size(); ++i)
        check_shapes(info, matrices[i - 1].size(1) == matrices[i].size(0), matrices[i - 1],
                     matrices[i]);
    const NoAutocast inside(matrices[0].device().kind);
    return Plan(matrices).multiply(matrices, 0, matrices.size() - 1);
}

void check_count(const OpInfo& info, const TensorList& tensors, std::size_t least) {
    if (tensors.size() < least) {
        throw Error(ErrorCode::value, std::string(info.name) + ": takes " + std::to_string(least) +
                                          " or more tensors, not " +
                                          std::to_string(tensors.size()));
    }
}

}  // namespace

const OpInfo chain_matmul_info{"chain_matmul",
                               CastPolicy::low,
                               "chain_matmul(matrices[])",
                               2,
                               "Matrix products one after the other: as mm.",
                               run<chain_matmul>};
const OpInfo linalg_multi_dot_info{"linalg_multi_dot",
                                   CastPolicy::low,
                                   "linalg_multi_dot(tensors[])",
                                   2,
                                   "Matrix products one after the other: as mm.",
                                   run<linalg_multi_dot>};

Tensor chain_matmul(const TensorList& matrices) {
    if (intercepted(chain_matmul_info))
        return dispatched(
            chain_matmul_info, [](const auto&... a) { return chain_matmul(a...); }, matrices);
    check_count(chain_matmul_info, matrices, 1);
    return chain(chain_matmul_info, autocast_list(chain_matmul_info, matrices));
}

Tensor linalg_multi_dot(const TensorList& given) {
    if (intercepted(linalg_multi_dot_info))
        return dispatched(
            linalg_multi_dot_info, [](const auto&... a) { return linalg_multi_dot(a...); }, given);
    check_count(linalg_multi_dot_info, given, 2);
    TensorList tensors = autocast_list(linalg_multi_dot_info, given);
    const Tensor first = tensors.front(), last = tensors.back();
    if (first.rank() == 1) tensors.front() = reshape(first, {1, first.size(0)});
    if (last.rank() == 1) tensors.back() = reshape(last, {last.size(0), 1});
    const Tensor y = chain(linalg_multi_dot_info, tensors);
    Shape shape;
    if (first.rank() == 2) shape.push_back(y.size(0));
    if (last.rank() == 2) shape.push_back(y.size(1));
    return reshape(y, shape);
}

}  // namespace engine
