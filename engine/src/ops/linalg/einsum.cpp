#include "ops/linalg/einsum.h"

#include <algorithm>
#include <array>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using Labels = std::vector<int>;

/// An einsum equation read against its operands. Labels are numbers: those below `letters` are
/// letters, from A to Z, then a to z; the rest are the dimensions of "...", the last one last.
struct EinsumEquation {
    static constexpr int letters = 52;

    std::vector<Labels> operands;  // the label of each dimension
    Labels output;
};

constexpr int max_labels = EinsumEquation::letters + Dims::max_rank;
constexpr char ellipsis = '.';

[[noreturn]] void refuse(const std::string& equation, const std::string& why) {
    throw Error(ErrorCode::value, "einsum: " + equation + ": " + why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The labels of one operand or of the result as written, "..." as a single point.
std::string terms_of(const std::string& text, const std::string& equation) {
    std::string terms;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (is_letter(text[i])) {
            terms += text[i];
        } else if (text.compare(i, 3, "...") == 0 && terms.find(ellipsis) == std::string::npos) {
            terms += ellipsis;
            i += 2;
        } else {
            refuse(equation, "there is no place for " + text.substr(i, 1));
        }
    }
    return terms;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

int label_of(char letter) { return letter >= 'a' ? 26 + letter - 'a' : letter - 'A'; }

/// The labels of an operand: the dimensions of "..." are counted from the last.
Labels labels_of(const std::string& terms, const Tensor& x, const std::string& equation) {
    const bool open = terms.find(ellipsis) != std::string::npos;
    const int named = static_cast<int>(terms.size()) - (open ? 1 : 0), more = x.rank() - named;
    if (more < 0 || (more > 0 && !open)) {
        throw Error(ErrorCode::shape, "einsum: " + equation + ": " + std::to_string(named) +
                                          " letters do not fit the shape " + to_string(x.shape()));
    }
    Labels labels;
    for (const char term : terms) {
        if (term != ellipsis) {
            labels.push_back(label_of(term));
            continue;
        }
        for (int i = 0; i < more; ++i) labels.push_back(max_labels - more + i);
    }
    return labels;
}

/// How often each label occurs; checks that its sizes agree.
std::array<int, max_labels> counts_of(const EinsumEquation& read, const TensorList& operands,
                                      const std::string& equation) {
    std::array<int, max_labels> counts{};
    std::array<std::int64_t, max_labels> sizes;
    sizes.fill(1);
    for (std::size_t k = 0; k < operands.size(); ++k) {
        for (std::size_t i = 0; i < read.operands[k].size(); ++i) {
            const auto label = static_cast<std::size_t>(read.operands[k][i]);
            const std::int64_t size = operands[k].size(static_cast<int>(i));
            ++counts[label];
            if (sizes[label] == 1) sizes[label] = size;
            if (size != 1 && size != sizes[label]) {
                throw Error(ErrorCode::shape, "einsum: " + equation + ": one label has the sizes " +
                                                  std::to_string(sizes[label]) + " and " +
                                                  std::to_string(size));
            }
        }
    }
    return counts;
}

Labels implied_output(const std::array<int, max_labels>& counts) {
    Labels labels;
    for (int i = EinsumEquation::letters; i < max_labels; ++i) {
        if (counts[static_cast<std::size_t>(i)] > 0) labels.push_back(i);
    }
    for (int i = 0; i < EinsumEquation::letters; ++i) {
        if (counts[static_cast<std::size_t>(i)] == 1) labels.push_back(i);
    }
    return labels;
}

Labels written_output(const std::string& terms, const std::array<int, max_labels>& counts,
                      const std::string& equation) {
    Labels labels;
    for (const char term : terms) {
        if (term == ellipsis) {
            for (int i = EinsumEquation::letters; i < max_labels; ++i) {
                if (counts[static_cast<std::size_t>(i)] > 0) labels.push_back(i);
            }
            continue;
        }
        const int label = label_of(term);
        if (counts[static_cast<std::size_t>(label)] == 0)
            refuse(equation, "no operand has the label " + std::string(1, term));
        if (std::find(labels.begin(), labels.end(), label) != labels.end())
            refuse(equation, "the result has the label " + std::string(1, term) + " twice");
        labels.push_back(label);
    }
    return labels;
}

/// "bij,bjk->bik": a letter for each dimension of an operand, "..." for any number of further ones.
/// Without "->" the result has the dimensions of "...", then the letters that occur once, in
/// order. Throws Error(value) for what is not an equation, Error(shape) where it does not fit the
/// operands: a label has one size, but for dimensions of size 1, which broadcast.
EinsumEquation read_einsum(const std::string& equation, const TensorList& operands) {
    const auto arrow = equation.find("->");
    const std::vector<std::string> parts = split(equation.substr(0, arrow));
    if (parts.size() != operands.size()) {
        refuse(equation, std::to_string(parts.size()) + " operands are written and " +
                             std::to_string(operands.size()) + " are given");
    }
    EinsumEquation read;
    for (std::size_t i = 0; i < parts.size(); ++i)
        read.operands.push_back(labels_of(terms_of(parts[i], equation), operands[i], equation));
    const auto counts = counts_of(read, operands, equation);
    read.output =
        arrow == std::string::npos
            ? implied_output(counts)
            : written_output(terms_of(equation.substr(arrow + 2), equation), counts, equation);
    if (read.output.size() > Dims::max_rank)
        refuse(equation, "the result has more than 8 dimensions");
    return read;
}

bool holds(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}
int place(const Labels& labels, int label) {
    return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

constexpr Op take_diagonal_op("einsum_diagonal(x)", "A copy keeps the type.");
constexpr Op put_diagonal_op("einsum_diagonal_backward(dy)", "A copy keeps the type.");

/// View of the elements of x whose places in dimensions i < j are equal; j is gone.
Tensor diagonal_view(const Tensor& x, int i, int j) {
    Shape shape;
    Strides strides;
    for (int dim = 0; dim < x.rank(); ++dim) {
        if (dim == j) continue;
        shape.push_back(x.size(dim));
        strides.push_back(x.strides()[dim] + (dim == i ? x.strides()[j] : 0));
    }
    return view_of(x, shape, strides, x.impl()->offset);
}

Tensor take_diagonal(const Tensor& x, int i, int j);

/// Zeros of `shape` with dy on the diagonal.
Tensor put_diagonal(const Tensor& dy, const Shape& shape, int i, int j) {
    const Tensor y = Tensor::zeros(shape, dy.dtype(), dy.device());
    copy_into(diagonal_view(y, i, j), dy);
    return record(put_diagonal_op, {dy}, y, {},
                  [i, j](const Tensor& ddy, const Saved&) { return take_diagonal(ddy, i, j); });
}

Tensor take_diagonal(const Tensor& x, int i, int j) {
    const Tensor view = diagonal_view(x, i, j);
    const Tensor y = Tensor::empty(view.shape(), x.dtype(), x.device());
    copy_into(y, view);
    return record(take_diagonal_op, {x}, y, {},
                  [shape = x.shape(), i, j](const Tensor& dy, const Saved&) {
                      return put_diagonal(dy, shape, i, j);
                  });
}

/// A tensor with a label for each dimension, no two alike.
struct Labelled {
    Tensor x;
    Labels labels;

    std::int64_t size(int label) const { return x.size(place(labels, label)); }
};

Labelled without_repeats(const std::string& equation, Tensor x, Labels labels) {
    for (std::size_t j = 0; j < labels.size();) {
        const int i = place(labels, labels[j]);
        if (i == static_cast<int>(j)) {
            ++j;
            continue;
        }
        if (x.size(i) != x.size(static_cast<int>(j))) {
            throw Error(ErrorCode::shape, "einsum: " + equation + ": the shape " +
                                              to_string(x.shape()) + " has no such diagonal");
        }
        x = take_diagonal(x, i, static_cast<int>(j));
        labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(j));
    }
    return {x, labels};
}

/// The dimension of size 1 taken off.
Labelled squeezed(const Labelled& a, int label) {
    Labelled out{a.x, {}};
    Shape shape;
    for (std::size_t i = 0; i < a.labels.size(); ++i) {
        if (a.labels[i] == label) continue;
        out.labels.push_back(a.labels[i]);
        shape.push_back(a.x.size(static_cast<int>(i)));
    }
    out.x = reshape(a.x, shape);
    return out;
}

Labelled summed(const Labelled& a, const Labels& kept) {
    std::vector<std::int64_t> dims;
    Labels labels;
    for (std::size_t i = 0; i < a.labels.size(); ++i) {
        if (holds(kept, a.labels[i]))
            labels.push_back(a.labels[i]);
        else
            dims.push_back(static_cast<std::int64_t>(i));
    }
    return {dims.empty() ? a.x : sum(a.x, dims, false, a.x.dtype()), labels};
}

/// a's dimensions in the order of `labels`, with size 1 where it has none.
Tensor arranged(const Labelled& a, const Labels& labels) {
    Dims order;
    Shape shape;
    for (const int label : labels) {
        if (holds(a.labels, label)) order.push_back(place(a.labels, label));
        shape.push_back(holds(a.labels, label) ? a.size(label) : 1);
    }
    return reshape(permute(a.x, order), shape);
}

Labels joined(std::initializer_list<Labels> parts) {
    Labels out;
    for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
    return out;
}

std::int64_t size_of_all(const Labelled& a, const Labels& labels) {
    std::int64_t size = 1;
    for (const int label : labels) size *= a.size(label);
    return size;
}

/// The part that each label has in the product of two.
struct Roles {
    Labels batch, left, right, sum;
};

Roles make_roles(const Labelled& a, const Labelled& b, const Labels& kept) {
    Roles roles;
    for (const int label : a.labels) {
        if (!holds(b.labels, label))
            roles.left.push_back(label);
        else
            (holds(kept, label) ? roles.batch : roles.sum).push_back(label);
    }
    for (const int label : b.labels) {
        if (!holds(a.labels, label)) roles.right.push_back(label);
    }
    return roles;
}

/// a b by one batched matrix product: (batch, left, sum) (batch, sum, right).
Tensor multiplied(const Labelled& a, const Labelled& b, const Roles& roles) {
    const std::int64_t batch = size_of_all(a, roles.batch), m = size_of_all(a, roles.left),
                       k = size_of_all(a, roles.sum), n = size_of_all(b, roles.right);
    const Tensor left = arranged(a, joined({roles.batch, roles.left, roles.sum}));
    const Tensor right = arranged(b, joined({roles.batch, roles.sum, roles.right}));
    if (roles.batch.empty())
        return product(reshape(left, {m, k}), false, reshape(right, {k, n}), false);
    return product(reshape(left, {batch, m, k}), false, reshape(right, {batch, k, n}), false);
}

/// The product of a and b, summed over common labels that neither the result nor others need.
Labelled contracted(Labelled a, Labelled b, const Labels& kept) {
    // A dimension of size 1 broadcasts: as if it were not there.
    for (const int label : Labels(a.labels)) {
        if (!holds(b.labels, label)) continue;
        const std::int64_t in_a = a.size(label), in_b = b.size(label);
        if (in_b == 1) b = squeezed(b, label);
        if (in_a == 1 && in_b != 1) a = squeezed(a, label);
    }
    a = summed(a, joined({kept, b.labels}));
    b = summed(b, joined({kept, a.labels}));
    const Roles roles = make_roles(a, b, kept);
    const Labels labels = joined({roles.batch, roles.left, roles.right});
    if (labels.size() > Dims::max_rank)
        throw Error(ErrorCode::shape, "einsum: a product on the way has more than 8 dimensions");
    if (roles.sum.empty()) return {mul(arranged(a, labels), arranged(b, labels)), labels};
    Shape shape;
    for (const int label : labels)
        shape.push_back(holds(a.labels, label) ? a.size(label) : b.size(label));
    return {reshape(multiplied(a, b, roles), shape), labels};
}

/// Labels needed by the result and by the operands from `next` on.
Labels wanted(const EinsumEquation& equation, std::size_t next) {
    Labels labels = equation.output;
    for (; next < equation.operands.size(); ++next)
        labels = joined({labels, equation.operands[next]});
    return labels;
}

}  // namespace

Tensor einsum(const std::string& equation, const TensorList& operands0) {
    return einsum_op.call(equation, operands0, [&](const TensorList& operands) {
        if (operands.empty()) throw Error(ErrorCode::value, "einsum: there are no operands");
        for (const auto& x : operands) one_type(einsum_op, {operands[0], x});
        const NoAutocast inside(operands[0].device().kind);
        const EinsumEquation read = read_einsum(equation, operands);
        Labelled result = without_repeats(equation, operands[0], read.operands[0]);
        for (std::size_t k = 1; k < operands.size(); ++k) {
            result = contracted(result, without_repeats(equation, operands[k], read.operands[k]),
                                wanted(read, k + 1));
        }
        return arranged(summed(result, read.output), read.output);
    });
}

}  // namespace engine
