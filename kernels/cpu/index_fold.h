#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/host_device.h"
#include "kernels/index.h"

/// Folds the terms of an element, one after the other; shared by the twins. W: double, float or
/// std::int64_t.
namespace kernels::cpu {

template <class W>
HALFTONE_HOST_DEVICE W wrapping_sum(W a, W b) {
    if constexpr (std::is_integral_v<W>)
        return static_cast<W>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
        return a + b;
}

constexpr std::int64_t sum_piece = 256;  ///< terms that a sum adds up first

template <class W>
class SumFold {
public:
    HALFTONE_HOST_DEVICE void add(W v) {
        piece_ = wrapping_sum(piece_, v);
        if (++count_ % sum_piece != 0) return;
        whole_ = wrapping_sum(whole_, piece_);
        piece_ = 0;
    }
    HALFTONE_HOST_DEVICE W value() const { return wrapping_sum(whole_, piece_); }
    HALFTONE_HOST_DEVICE std::int64_t count() const { return count_; }

private:
    W whole_ = 0, piece_ = 0;
    std::int64_t count_ = 0;
};

template <class W>
class MeanFold {
public:
    HALFTONE_HOST_DEVICE void add(W v) { sum_.add(v); }
    HALFTONE_HOST_DEVICE W value() const { return sum_.value() / static_cast<W>(sum_.count()); }

private:
    SumFold<W> sum_;
};

template <class W>
class ProdFold {
public:
    HALFTONE_HOST_DEVICE void add(W v) {
        if constexpr (std::is_integral_v<W>)
            product_ = static_cast<W>(static_cast<std::uint64_t>(product_) *
                                      static_cast<std::uint64_t>(v));
        else
            product_ *= v;
    }
    HALFTONE_HOST_DEVICE W value() const { return product_; }

private:
    W product_ = 1;
};

/// sign 1: the largest; -1: the smallest.
template <class W, int sign>
class ExtremumFold {
public:
    HALFTONE_HOST_DEVICE void add(W v) {
        const bool better = sign > 0 ? v > best_ : v < best_;
        if (!any_ || better || v != v) best_ = v;
        any_ = true;
    }
    HALFTONE_HOST_DEVICE W value() const { return best_; }

private:
    W best_ = 0;
    bool any_ = false;
};

/// f(Fold{}) for a product or an extremum.
template <class W, class F>
void with_other_fold(IndexFold fold, const F& f) {
    if (fold == IndexFold::prod) return f(ProdFold<W>{});
    if (fold == IndexFold::max) return f(ExtremumFold<W, 1>{});
    return f(ExtremumFold<W, -1>{});
}

/// f(Fold{}) for a fold that computes.
template <class W, class F>
void with_fold(IndexFold fold, const F& f) {
    if (fold == IndexFold::sum) return f(SumFold<W>{});
    if (fold == IndexFold::mean) return f(MeanFold<W>{});
    return with_other_fold<W>(fold, f);
}

}  // namespace kernels::cpu
