#include "ops/catalog_only/tensor_products.h"

#include <algorithm>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using Integers = std::vector<std::int64_t>;

/// The dimensions that are summed, from 0 up, each once.
std::vector<int> wrapped(const Integers& dims, const Tensor& x) {
    std::vector<int> out;
    for (const auto asked : dims) {
        const int dim = wrap_dim("tensordot", asked, x.rank());
        if (std::find(out.begin(), out.end(), dim) != out.end()) {
            throw Error(ErrorCode::value,
                        "tensordot: dimension " + std::to_string(dim) + " is given twice");
        }
        out.push_back(dim);
    }
    return out;
}

std::vector<int> others(const std::vector<int>& dims, const Tensor& x) {
    std::vector<int> out;
    for (int i = 0; i < x.rank(); ++i) {
        if (std::find(dims.begin(), dims.end(), i) == dims.end()) out.push_back(i);
    }
    return out;
}

std::int64_t size_of_all(const Tensor& x, const std::vector<int>& dims) {
    std::int64_t size = 1;
    for (const int dim : dims) size *= x.size(dim);
    return size;
}

/// x with the dimensions of `rows` first, as a matrix.
Tensor matrix_of(const Tensor& x, const std::vector<int>& rows, const std::vector<int>& cols) {
    Dims order;
    for (const int dim : rows) order.push_back(dim);
    for (const int dim : cols) order.push_back(dim);
    return reshape(permute(x, order), {size_of_all(x, rows), size_of_all(x, cols)});
}

/// x summed over those of its `dims` whose partner in y has size 1.
Tensor summed_beside_ones(const Tensor& x, const std::vector<int>& dims, const Tensor& y,
                          const std::vector<int>& partners) {
    Integers longer;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (y.size(partners[i]) == 1 && x.size(dims[i]) != 1) longer.push_back(dims[i]);
    }
    return longer.empty() ? x : sum(x, longer, true, x.dtype());
}

Shape kept_shape(const Tensor& x, const std::vector<int>& from_x, const Tensor& y,
                 const std::vector<int>& from_y) {
    if (from_x.size() + from_y.size() > Dims::max_rank) {
        throw Error(ErrorCode::shape, "tensordot: the result has " +
                                          std::to_string(from_x.size() + from_y.size()) +
                                          " dimensions, more than 8");
    }
    Shape shape;
    for (const int dim : from_x) shape.push_back(x.size(dim));
    for (const int dim : from_y) shape.push_back(y.size(dim));
    return shape;
}

void check_bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
    const int last = x1.rank() - 1;
    check_rank(bilinear_op, weight, 3);
    check_shapes(bilinear_op, last >= 0 && x1.rank() == x2.rank(), x1, x2);
    for (int i = 0; i < last; ++i) check_shapes(bilinear_op, x1.size(i) == x2.size(i), x1, x2);
    check_shapes(bilinear_op, x1.size(last) == weight.size(1), x1, weight);
    check_shapes(bilinear_op, x2.size(last) == weight.size(2), x2, weight);
    if (bias.defined())
        check_shapes(bilinear_op, bias.rank() == 1 && bias.size(0) == weight.size(0), bias, weight);
}

}  // namespace

Tensor tensordot(const Tensor& x0, const Tensor& y0, const Integers& dims_x,
                 const Integers& dims_y) {
    return tensordot_op.call(x0, y0, dims_x, dims_y, [&](const Tensor& x, const Tensor& y) {
        one_type(tensordot_op, {x, y});
        const std::vector<int> in_x = wrapped(dims_x, x), in_y = wrapped(dims_y, y);
        check_shapes(tensordot_op, in_x.size() == in_y.size(), x, y);
        for (std::size_t i = 0; i < in_x.size(); ++i) {
            const std::int64_t a = x.size(in_x[i]), b = y.size(in_y[i]);
            check_shapes(tensordot_op, a == b || a == 1 || b == 1, x, y);
        }
        const NoAutocast inside(x.device().kind);
        const Tensor left = summed_beside_ones(x, in_x, y, in_y);
        const Tensor right = summed_beside_ones(y, in_y, x, in_x);
        const std::vector<int> from_x = others(in_x, x), from_y = others(in_y, y);
        const Shape shape = kept_shape(x, from_x, y, from_y);
        return reshape(
            product(matrix_of(left, from_x, in_x), false, matrix_of(right, in_y, from_y), false),
            shape);
    });
}

Tensor tensordot(const Tensor& x, const Tensor& y, std::int64_t count) {
    if (count < 0 || count > std::min(x.rank(), y.rank())) {
        throw Error(ErrorCode::value, "tensordot: dims: " + std::to_string(count) +
                                          " dimensions are not in both " + to_string(x.shape()) +
                                          " and " + to_string(y.shape()));
    }
    Integers dims_x, dims_y;
    for (std::int64_t i = 0; i < count; ++i) {
        dims_x.push_back(i - count);
        dims_y.push_back(i);
    }
    return tensordot(x, y, dims_x, dims_y);
}

TensorList tensordot_by_name(const Op&, const OpArguments& args) {
    if (!args.has("dims_self")) return {tensordot(args.at(0), args.at(1), args.integer("dims", 2))};
    return {tensordot(args.at(0), args.at(1), args.integers("dims_self", {}),
                      args.integers("dims_other", {}))};
}

Tensor bilinear(const Tensor& x10, const Tensor& x20, const Tensor& weight0, const Tensor& bias0) {
    return bilinear_op.call(
        x10, x20, weight0, bias0,
        [&](const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
            one_type(bilinear_op, {x1, x2, weight, bias});
            check_bilinear(x1, x2, weight, bias);
            const NoAutocast inside(x1.device().kind);
            const std::int64_t out = weight.size(0), in1 = weight.size(1), in2 = weight.size(2);
            Shape shape = x1.shape();
            shape[shape.rank() - 1] = out;
            std::int64_t rows = 1;
            for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
            // (rows, in1) (in1, out in2), then for each row a product with x2. This is PyTorch's
            // order, which decides where an infinity meets a zero.
            const Tensor half =
                product(reshape(widened(x1), {rows, in1}), false,
                        reshape(transpose(widened(weight), 0, 1), {in1, out * in2}), false);
            Tensor y = reshape(product(reshape(half, {rows, out, in2}), false,
                                       reshape(widened(x2), {rows, in2, 1}), false),
                               shape);
            if (bias.defined()) y = add(y, widened(bias));
            return to(y, x1.dtype());
        });
}

namespace {

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
Tensor chain(const Op& info, const TensorList& matrices) {
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

void check_count(const Op& info, const TensorList& tensors, std::size_t least) {
    if (tensors.size() < least) {
        throw Error(ErrorCode::value, std::string(info.name) + ": takes " + std::to_string(least) +
                                          " or more tensors, not " +
                                          std::to_string(tensors.size()));
    }
}

}  // namespace

Tensor chain_matmul(const TensorList& matrices0) {
    return chain_matmul_op.call(matrices0, [&](const TensorList& matrices) {
        check_count(chain_matmul_op, matrices, 1);
        return chain(chain_matmul_op, matrices);
    });
}

Tensor linalg_multi_dot(const TensorList& tensors0) {
    return linalg_multi_dot_op.call(tensors0, [&](TensorList tensors) {
        check_count(linalg_multi_dot_op, tensors, 2);
        const Tensor first = tensors.front(), last = tensors.back();
        if (first.rank() == 1) tensors.front() = reshape(first, {1, first.size(0)});
        if (last.rank() == 1) tensors.back() = reshape(last, {last.size(0), 1});
        const Tensor y = chain(linalg_multi_dot_op, tensors);
        Shape shape;
        if (first.rank() == 2) shape.push_back(y.size(0));
        if (last.rank() == 2) shape.push_back(y.size(1));
        return reshape(y, shape);
    });
}

}  // namespace engine
