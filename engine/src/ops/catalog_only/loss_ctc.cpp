#include "ops/catalog_only/loss_ctc.h"

#include <algorithm>
#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

/// Stands for the logarithm of 0: an infinity would make NaN of differences.
constexpr double never = -1e30;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::value, "ctc_loss: " + what);
}

Tensor whole(double value, const Device& device) {
    return Tensor::full({}, value, DType::i64, device);
}

/// Everything as for a batch, in tensors of the shapes that the steps need.
struct Problem {
    Tensor log_probs;                      // (time, batch, classes)
    Tensor labels;                         // (batch, length), i64, inside the classes
    Tensor input_lengths, target_lengths;  // (batch, 1), i64
    std::int64_t blank;

    std::int64_t time() const { return log_probs.size(0); }
    std::int64_t batch() const { return log_probs.size(1); }
    std::int64_t length() const { return labels.size(1); }
    const Device& device() const { return log_probs.device(); }
};

/// Concatenated targets as rows of (batch, longest). Reads the lengths on the host.
Tensor padded(const Tensor& targets, const Tensor& lengths) {
    const auto all = targets.values(), counts = lengths.values();
    const auto longest = static_cast<std::int64_t>(
        counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()));
    // Before rows of that length are made: a length may be any number.
    if (longest > targets.numel()) refuse("there are fewer targets than the lengths say");
    std::vector<double> rows;
    std::size_t at = 0;
    for (const double count : counts) {
        for (std::int64_t i = 0; i < longest; ++i) {
            const bool here = static_cast<double>(i) < count;
            if (here && at == all.size()) refuse("there are fewer targets than the lengths say");
            rows.push_back(here ? all[at++] : 0);
        }
    }
    if (at != all.size()) refuse("there are more targets than the lengths say");
    return Tensor::of(rows, {lengths.numel(), longest}, DType::i64, targets.device());
}

void check_within(const Tensor& values, std::int64_t low, std::int64_t high, const char* what) {
    const ValueRule rule{std::string("ctc_loss: ") + what + " of ",
                         " is outside " + std::to_string(low) + " to " + std::to_string(high)};
    check_whole_values(rule, values, low, high);
}

void check_types(const Tensor& log_probs, std::initializer_list<Tensor> whole_numbers) {
    if (log_probs.dtype() != DType::f32 && log_probs.dtype() != DType::f64) {
        throw Error(ErrorCode::dtype,
                    std::string("ctc_loss: takes f32 or f64, not ") + name(log_probs.dtype()),
                    "Cast the log-probabilities to f32.");
    }
    for (const auto& tensor : whole_numbers) {
        if (tensor.dtype() != DType::i64)
            throw Error(ErrorCode::dtype,
                        std::string("ctc_loss: targets and lengths must be i64, not ") +
                            name(tensor.dtype()));
    }
    if (log_probs.rank() != 2) check_rank(ctc_loss_op, log_probs, 3);
}

Problem make_problem(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, std::int64_t blank) {
    check_types(log_probs, {targets, input_lengths, target_lengths});
    const std::int64_t batch = log_probs.rank() == 3 ? log_probs.size(1) : 1;
    const std::int64_t classes = log_probs.size(log_probs.rank() - 1);
    if (blank < 0 || blank >= classes)
        refuse("blank " + std::to_string(blank) + " is not one of the " + std::to_string(classes) +
               " classes");
    check_shapes(ctc_loss_op, input_lengths.numel() == batch, log_probs, input_lengths);
    check_shapes(ctc_loss_op, target_lengths.numel() == batch, log_probs, target_lengths);
    Problem p;
    p.blank = blank;
    p.log_probs = reshape(log_probs, {log_probs.size(0), batch, classes});
    p.input_lengths = reshape(input_lengths, {batch, 1});
    p.target_lengths = reshape(target_lengths, {batch, 1});
    const bool rows = targets.rank() == 2 || log_probs.rank() == 2;
    if (!rows) check_rank(ctc_loss_op, targets, 1);
    const Tensor labels = rows ? reshape(targets, {batch, batch == 0 ? 0 : targets.numel() / batch})
                               : padded(targets, target_lengths);
    check_within(p.input_lengths, 0, p.time(), "an input length");
    check_within(p.target_lengths, 0, labels.size(1), "a target length");
    // Padding is never used, but its class is looked up, so it must be in range.
    const Tensor place = counting({1, labels.size(1)}, p.device());
    const Tensor zero = whole(0, p.device());
    p.labels = where(less(place, p.target_lengths), labels, zero);
    check_within(p.labels, 0, classes - 1, "a label");
    return p;
}

/// The labels with a blank before, between and after them: (batch, 2 length + 1).
Tensor with_blanks(const Problem& p) {
    const Tensor blanks = Tensor::full({p.batch(), p.length(), 1}, static_cast<double>(p.blank),
                                       DType::i64, p.device());
    const Tensor pairs = cat({blanks, reshape(p.labels, {p.batch(), p.length(), 1})}, 2);
    const Tensor last =
        Tensor::full({p.batch(), 1}, static_cast<double>(p.blank), DType::i64, p.device());
    return cat({reshape(pairs, {p.batch(), 2 * p.length()}), last}, 1);
}

/// x moved right by some places, `never` in front.
Tensor shifted(const Tensor& x, std::int64_t by) {
    const std::int64_t n = x.size(1);
    if (by >= n) return Tensor::full(x.shape(), never, x.dtype(), x.device());
    const Tensor front = Tensor::full({x.size(0), by}, never, x.dtype(), x.device());
    return cat({front, narrow(x, 1, 0, n - by)}, 1);
}

/// log(exp(a) + exp(b) + exp(c)) where none is infinite.
Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
    const Tensor largest = maximum(maximum(a.detach(), b.detach()), c.detach());
    const auto part = [&](const Tensor& x) { return exp(sub(x, largest)); };
    return add(log(add(add(part(a), part(b)), part(c))), largest);
}

/// Places of the extended labels that may be reached by skipping the blank before them: labels that
/// differ from the previous label. (batch, 2 length + 1), bool.
Tensor may_skip(const Tensor& extended, std::int64_t blank) {
    const std::int64_t n = extended.size(1);
    const Device& device = extended.device();
    const Tensor label = not_equal(extended, whole(static_cast<double>(blank), device));
    if (n < 3) return Tensor::full(extended.shape(), 0, DType::boolean, device);
    const Tensor front = Tensor::full({extended.size(0), 2}, 0, DType::boolean, device);
    const Tensor other = not_equal(narrow(extended, 1, 2, n - 2), narrow(extended, 1, 0, n - 2));
    return logical_and(label, cat({front, other}, 1));
}

/// The logarithm of the probability of all alignments up to each extended label, at the end of each
/// input.
Tensor forward_pass(const Problem& p) {
    const Tensor extended = with_blanks(p);
    const std::int64_t n = extended.size(1);
    const Tensor index =
        contiguous(expand(reshape(extended, {1, p.batch(), n}), {p.time(), p.batch(), n}));
    const Tensor found = gather(p.log_probs, 2, index), floor_value = constant(found, never);
    // A probability of 0, too, is `never`; a NaN stays.
    const Tensor emitted = where(less(found, floor_value), floor_value, found);
    const auto at = [&](std::int64_t t) {
        return reshape(narrow(emitted, 0, t, 1), {p.batch(), n});
    };
    const Tensor skip = may_skip(extended, p.blank);
    const Tensor start = less(counting({1, n}, p.device()), whole(2, p.device()));
    // Before the first step only the empty row has been written.
    const Tensor first = less(counting({1, n}, p.device()), whole(1, p.device()));
    const Tensor empty =
        where(expand(first, {p.batch(), n}), constant(found, 0), constant(found, never));
    Tensor alpha = empty;
    const std::int64_t steps = p.batch() == 0 ? 0 : p.time();
    for (std::int64_t t = 0; t < steps; ++t) {
        const Tensor next = t == 0 ? where(start, at(0), floor_value)
                                   : add(log_add(alpha, shifted(alpha, 1),
                                                 where(skip, shifted(alpha, 2), floor_value)),
                                         at(t));
        const Tensor running = less(whole(static_cast<double>(t), p.device()), p.input_lengths);
        alpha = where(running, next, alpha);
    }
    return alpha;
}

/// (batch, 1): the last label or the blank behind it.
Tensor total_log(const Problem& p, const Tensor& alpha) {
    const Tensor last = mul(p.target_lengths, whole(2, p.device()));
    const Tensor none = whole(0, p.device());
    const Tensor empty = equal(p.target_lengths, none);
    const Tensor before = where(empty, none, sub(last, whole(1, p.device())));
    const Tensor a = gather(alpha, 1, last), nothing = constant(a, never);
    const Tensor b = where(empty, nothing, gather(alpha, 1, before));
    return log_add(a, b, nothing);
}

/// Zero, with the gradient exp(log_probs) of all that the inputs hold: (batch,
/// 1).
Tensor softmax_share(const Problem& p) {
    const Tensor time = counting({p.time(), 1, 1}, p.device());
    const Tensor running = less(time, reshape(p.input_lengths, {1, p.batch(), 1}));
    const Tensor shares = where(running, exp(p.log_probs), constant(p.log_probs, 0));
    const Tensor total = sum(shares, {0, 2}, false, p.log_probs.dtype());
    return reshape(sub(total, total.detach()), {p.batch(), 1});
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs0, const Tensor& targets0, const Tensor& input_lengths0,
                const Tensor& target_lengths0, const CtcOptions& options) {
    return ctc_loss_op.call(
        log_probs0, targets0, input_lengths0, target_lengths0, options,
        [&](const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
            const Tensor& target_lengths) {
            const NoAutocast inside(log_probs.device().kind);
            const Problem p =
                make_problem(log_probs, targets, input_lengths, target_lengths, options.blank);
            const Tensor total = total_log(p, forward_pass(p));
            const Tensor fits = greater(total, constant(total, never / 2));
            const Tensor loss = add(neg(total), softmax_share(p));
            // As a factor, since the gradient of an unused branch would be 0 * inf.
            const double beyond =
                options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
            const Tensor factor =
                where(logical_or(fits, isnan(total)), constant(loss, 1), constant(loss, beyond));
            Tensor losses = mul(loss, factor);
            if (options.reduction == Reduction::mean) {
                const Tensor lengths = to(p.target_lengths, losses.dtype());
                losses = div(losses, maximum(lengths, constant(losses, 1)));
            }
            losses = reshape(losses, log_probs.rank() == 3 ? Shape{p.batch()} : Shape{});
            return reduced(losses, options.reduction);
        });
}

}  // namespace engine
