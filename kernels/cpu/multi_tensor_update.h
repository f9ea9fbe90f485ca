#pragma once

#include <atomic>
#include <vector>

#include "cpu/grain.h"
#include "cpu/multi_tensor_pieces.h"
#include "kernels/parallel.h"
#include "shared/update_values.h"

namespace kernels::cpu {

/// The arguments of an update of one tensor, besides its options.
struct TensorValues {
    UpdateValues update;
    GradientValues gradient;
    double of_tensor = 0;
};

/// Sums over some elements, for norms.
struct Sums {
    double weight = 0;   ///< squares
    double other = 0;    ///< squares, of the gradient or the direction
    double largest = 0;  ///< of the gradient's magnitudes; NaN if one is

    void add(const Sums& more) {
        weight += more.weight;
        other += more.other;
        // A NaN stays, and comes in.
        if (!(more.largest <= largest) && !std::isnan(largest)) largest = more.largest;
    }
    double gradient_norm(NormKind kind) const {
        return kind == NormKind::l2 ? std::sqrt(other) : largest;
    }
};

inline bool skipped(const UpdateScalars& scalars, UpdateCounts* counts) {
    if (scalars.found_inf == nullptr || *scalars.found_inf == 0) return false;
    if (counts != nullptr) *counts = {};
    return true;
}

/// run(i, first, n, counts) for the elements of all tensors, shared out among the threads.
template <class Run>
void update_parts(std::span<const UpdateTensor> tensors, UpdateCounts* counts, const Run& run) {
    const auto count = static_cast<std::int64_t>(tensors.size());
    const auto size = [&](std::int64_t i) {
        return tensors[static_cast<std::size_t>(i)].master.size;
    };
    std::atomic<std::int64_t> nonzero{0}, lost{0};
    parallel_for(
        total_size(count, size), loop_grain / 2, [&](std::int64_t begin, std::int64_t end) {
            UpdateCounts here{};
            for_each_piece(
                count, size, begin, end, [&](std::int64_t i, std::int64_t first, std::int64_t n) {
                    run(static_cast<std::size_t>(i), first, n, counts != nullptr ? &here : nullptr);
                });
            nonzero += here.nonzero;
            lost += here.lost;
        });
    if (counts != nullptr) *counts = {nonzero, lost};
}

/// The Sums of each tensor: sums(i, first, n) of its pieces, added in order, so that they do not
/// depend on the thread count.
template <class F>
std::vector<Sums> sums_by_tensor(std::span<const UpdateTensor> tensors, const F& sums) {
    struct Piece {
        std::size_t tensor;
        std::int64_t first, n;
    };
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::int64_t size = tensors[i].master.size;
        for (std::int64_t first = 0; first < size; first += piece_size)
            pieces.push_back({i, first, std::min(piece_size, size - first)});
    }
    std::vector<Sums> parts(pieces.size());
    const auto piece_count = static_cast<std::int64_t>(pieces.size());
    std::int64_t total = 0;
    for (const Piece& piece : pieces) total += piece.n;
    const std::int64_t grain =
        std::max<std::int64_t>(1, loop_grain * piece_count / std::max<std::int64_t>(total, 1));
    parallel_for(piece_count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
            parts[k] = sums(pieces[k].tensor, pieces[k].first, pieces[k].n);
    });
    std::vector<Sums> out(tensors.size());
    for (std::size_t k = 0; k < pieces.size(); ++k) out[pieces[k].tensor].add(parts[k]);
    return out;
}

/// Sums of n elements' weights and gradients, the latter as the optimizer sees them.
Sums gradient_sums(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                   const GradientValues& at);

/// The values of every tensor; under LARC after a pass over all weights and gradients.
std::vector<TensorValues> tensor_values(std::span<const UpdateTensor> tensors,
                                        const UpdateScalars& scalars, double weight_decay);

}  // namespace kernels::cpu
