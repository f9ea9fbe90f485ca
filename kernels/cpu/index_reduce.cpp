#include <array>
#include <cstring>
#include <vector>

#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// A term and the row that it goes to.
struct Keyed {
    std::int64_t key, position;
};

/// Sorts by key, stable: a radix sort from the lowest digit.
void sort_by_key(std::vector<Keyed>& terms, std::int64_t limit) {
    constexpr int bits = 11;
    std::vector<Keyed> other(terms.size());
    for (int shift = 0; (limit - 1) >> shift > 0; shift += bits) {
        std::array<std::size_t, (1u << bits) + 1> first{};
        const auto digit = [shift](const Keyed& t) {
            return static_cast<std::size_t>(t.key >> shift) & ((1u << bits) - 1);
        };
        for (const Keyed& t : terms) ++first[digit(t) + 1];
        for (std::size_t d = 1; d < first.size(); ++d) first[d] += first[d - 1];
        for (const Keyed& t : terms) other[first[digit(t)]++] = t;
        terms.swap(other);
    }
}

bool in_order(const std::vector<Keyed>& terms) {
    for (std::size_t i = 1; i < terms.size(); ++i)
        if (terms[i].key < terms[i - 1].key) return false;
    return true;
}

/// The terms by their target row; false if one is out of range. key_of(i) gives the row of term i,
/// or -1, which is dropped.
template <class KeyOf>
bool collect(std::vector<Keyed>& terms, std::int64_t count, std::int64_t rows, bool holes,
             const KeyOf& key_of) {
    terms.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t key = key_of(i);
        if (key == -1 && holes) continue;
        if (key < 0 || key >= rows) return false;
        terms.push_back({key, i});
    }
    if (!in_order(terms)) sort_by_key(terms, rows);
    return true;
}

float wide(float v) { return v; }
double wide(double v) { return v; }
float wide(Half v) { return to_float(v); }
float wide(BFloat16 v) { return to_float(v); }
std::int64_t wide(std::int64_t v) { return v; }
std::int64_t wide(std::int32_t v) { return v; }

template <class T, class W>
T narrowed(W v) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(v);
    else if constexpr (std::is_same_v<T, BFloat16>)
        return to_bfloat16(v);
    else
        return static_cast<T>(v);
}

/// Terms [first, last) go to one row of `inner` elements.
struct Run {
    std::size_t first, last;
};

/// f(run) for each row that gets a term.
template <class F>
void for_each_run(const std::vector<Keyed>& terms, std::int64_t inner, const F& f) {
    const auto count = static_cast<std::int64_t>(terms.size());
    parallel_for(count, row_grain(inner), [&](std::int64_t begin, std::int64_t end) {
        const auto same = [&](std::size_t a, std::size_t b) {
            return terms[a].key == terms[b].key;
        };
        auto i = static_cast<std::size_t>(begin);
        while (i > 0 && i < terms.size() && same(i, i - 1)) ++i;  // the range before does it
        while (i < static_cast<std::size_t>(end)) {
            Run run{i, i + 1};
            while (run.last < terms.size() && same(run.last, i)) ++run.last;
            f(run);
            i = run.last;
        }
    });
}

/// Where the rows lie: those of y of one outer index are n apart, those of x m.
template <class T>
struct Rows {
    T* y;
    const T* x;
    IndexSpan span;

    T* to(std::int64_t o, std::int64_t key) const { return y + (o * span.n + key) * span.inner; }
    const T* from(std::int64_t o, std::int64_t position) const {
        return x + (o * span.m + position) * span.inner;
    }
};

template <class T>
void copy_last(const Rows<T>& rows, const std::vector<Keyed>& terms) {
    const auto bytes = static_cast<std::size_t>(rows.span.inner) * sizeof(T);
    for_each_run(terms, rows.span.inner * rows.span.outer, [&](const Run& run) {
        const Keyed& last = terms[run.last - 1];
        for (std::int64_t o = 0; o < rows.span.outer; ++o)
            std::memcpy(rows.to(o, last.key), rows.from(o, last.position), bytes);
    });
}

constexpr std::int64_t block = 64;

/// One row from `c` on, a block of columns at most.
template <class T, class Fold>
void fold_block(const Rows<T>& rows, const std::vector<Keyed>& terms, const Run& run,
                std::int64_t o, std::int64_t c, bool with_base) {
    const std::int64_t width = std::min(block, rows.span.inner - c);
    std::array<Fold, block> folds{};
    T* y = rows.to(o, terms[run.first].key) + c;
    const auto take = [&](const T* row) {
        for (std::int64_t k = 0; k < width; ++k)
            folds[static_cast<std::size_t>(k)].add(wide(row[k]));
    };
    if (with_base) take(y);
    for (std::size_t i = run.first; i < run.last; ++i) take(rows.from(o, terms[i].position) + c);
    for (std::int64_t k = 0; k < width; ++k)
        y[k] = narrowed<T>(folds[static_cast<std::size_t>(k)].value());
}

/// inner = 1: takes one outer index at a time, so that memory is read in sequence.
template <class T, class Fold>
void fold_elements(const Rows<T>& rows, const std::vector<Keyed>& terms, bool with_base) {
    const auto count = static_cast<std::int64_t>(terms.size());
    parallel_for(rows.span.outer, row_grain(2 * count), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o) {
            for (std::size_t i = 0; i < terms.size();) {
                const std::int64_t key = terms[i].key;
                T* y = rows.to(o, key);
                Fold fold;
                if (with_base) fold.add(wide(*y));
                for (; i < terms.size() && terms[i].key == key; ++i)
                    fold.add(wide(*rows.from(o, terms[i].position)));
                *y = narrowed<T>(fold.value());
            }
        }
    });
}

template <class T>
void fold_rows(const Rows<T>& rows, const std::vector<Keyed>& terms, IndexFold kind,
               bool with_base) {
    if constexpr (!std::is_same_v<T, Boolean> && !std::is_same_v<T, std::uint8_t>) {
        using W = decltype(wide(T{}));
        with_fold<W>(kind, [&]<typename Fold>(Fold) {
            if (rows.span.inner == 1 && rows.span.outer > 1)
                return fold_elements<T, Fold>(rows, terms, with_base);
            for_each_run(terms, rows.span.inner * rows.span.outer, [&](const Run& run) {
                for (std::int64_t o = 0; o < rows.span.outer; ++o)
                    for (std::int64_t c = 0; c < rows.span.inner; c += block)
                        fold_block<T, Fold>(rows, terms, run, o, c, with_base);
            });
        });
    }
}

template <class T>
void spoil(T* y, std::int64_t size) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Boolean>)
        std::fill_n(y, size, T{});
    else
        std::fill_n(y, size, narrow<T>(std::numeric_limits<double>::quiet_NaN()));
}

template <class KeyOf>
void reduce_by_key(Array y, ConstArray base, ConstArray x, const IndexSpan& span, IndexFold fold,
                   bool with_base, const KeyOf& key_of) {
    if (y.size == 0) return;
    if (y.data != base.data)
        std::memcpy(y.data, base.data, static_cast<std::size_t>(y.size) * size_of(y.dtype));
    std::vector<Keyed> terms;
    const bool inside = collect(terms, span.m, span.n, span.holes, key_of);
    with_type(y.dtype, [&]<typename T>(T) {
        const Rows<T> rows{static_cast<T*>(y.data), static_cast<const T*>(x.data), span};
        if (!inside)
            spoil(rows.y, y.size);
        else if (fold == IndexFold::last)
            copy_last(rows, terms);
        else
            fold_rows(rows, terms, fold, with_base);
    });
}

}  // namespace

void index_reduce(Array y, ConstArray base, ConstArray x, ConstArray index, const IndexSpan& span,
                  IndexFold fold, bool with_base, Stream) {
    const auto* row = static_cast<const std::int64_t*>(index.data);
    reduce_by_key(y, base, x, span, fold, with_base, [row](std::int64_t i) { return row[i]; });
}

void scatter_reduce(Array y, ConstArray base, ConstArray x, ConstArray index, const IndexSpan& span,
                    IndexFold fold, bool with_base, Stream) {
    const auto* row = static_cast<const std::int64_t*>(index.data);
    const IndexSpan s = span;
    const IndexSpan flat{1, s.outer * s.n * s.inner, s.outer * s.m * s.inner, 1, s.holes};
    reduce_by_key(y, base, x, flat, fold, with_base, [row, s](std::int64_t i) {
        const std::int64_t j = row[i];
        if (j < 0 || j >= s.n) return s.holes && j == -1 ? std::int64_t{-1} : std::int64_t{-2};
        return (i / s.inner / s.m * s.n + j) * s.inner + i % s.inner;
    });
}

}  // namespace kernels::cpu
