#include "cpu/gemm_tiled.h"

#include "cpu/gemm_scratch.h"
#include "cpu/grain.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/gemm_tiled.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/gemm_pack-inl.h"
#include "cpu/gemm_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// Multiply-adds that a second thread must at least take to pay for waking it.
constexpr std::int64_t thread_grain = 1 << 19;
/// Bytes of a that a thread keeps in its L2 while it runs over the panels of b, and of packed b
/// that stay in the last cache while it runs over the rows of a.
constexpr std::int64_t row_bytes = 384 << 10;
constexpr std::int64_t panel_bytes = 16 << 20;
constexpr std::int64_t max_rows = 16 * max_tile_rows;

template <class T>
struct Operand {
    const T* data;
    std::int64_t row, col;  ///< elements from one row, one column, to the next
};

/// One product; T is computed in, a and b hold S, c holds R.
template <class T, class S, class R>
class Product {
public:
    Product(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b, const GemmOptions& options)
        : m_(c.rows), n_(c.cols), k_(a.cols), a_(a), b_(b), c_(c) {
        const std::int64_t fitting = row_bytes / (sizeof_t * std::max<std::int64_t>(k_, 1));
        row_block_ = std::clamp<std::int64_t>(fitting / max_tile_rows * max_tile_rows,
                                              4 * max_tile_rows, max_rows);
        store_.alpha = static_cast<T>(options.alpha);
        store_.beta = static_cast<T>(options.beta);
        store_.bias = static_cast<const R*>(options.bias);
        store_.relu = options.relu;
        stores_sums_ = store_.alpha == T{1} && store_.beta == T{0};
    }

    void run(std::int64_t index, const GemmOptions& options, bool threaded) const {
        const S* a = static_cast<const S*>(a_.data) + index * options.stride_a;
        const S* b = static_cast<const S*>(b_.data) + index * options.stride_b;
        R* c = static_cast<R*>(c_.data) + index * options.stride_c;
        const std::int64_t panels = (n_ + width - 1) / width;
        const std::int64_t panel_size = width * std::max<std::int64_t>(k_, 1);
        if (threaded && m_ < row_block_) {
            parallel_for(panels, grain(m_ * panel_size), [&](std::int64_t begin, std::int64_t end) {
                run_panels(c, a, b, begin, end);
            });
            return;
        }
        constexpr std::int64_t least = 8;
        if (!threaded && panels <= least) return run_panels(c, a, b, 0, panels);
        const std::int64_t most = std::max(least, panel_bytes / sizeof_t / panel_size);
        for (std::int64_t first = 0; first < panels; first += most) {
            const std::int64_t last = std::min(panels, first + most);
            if (threaded)
                run_rows(c, a, b, first, last);
            else
                run_panels(c, a, b, first, last);
        }
    }

    std::int64_t multiply_adds() const { return m_ * n_ * k_; }

private:
    static constexpr std::int64_t width = panel_columns<T>();
    static constexpr auto sizeof_t = static_cast<std::int64_t>(sizeof(T));
    /// Rows of a 16-bit b that are brought into the computing type at a time.
    static constexpr std::int64_t strip_rows = 16;
    /// Whether tiles read and write f16 themselves: where that is one instruction.
    static constexpr bool tiles_convert =
        HALFTONE_HAVE_F16C && std::is_same_v<S, Half> && std::is_same_v<R, Half>;

    T* packed_panels(std::int64_t first, std::int64_t last) const {
        return scratch<T>(Scratch::gemm_b, static_cast<std::size_t>(k_ * (last - first) * width));
    }

    void run_panels(R* c, const S* a, const S* b, std::int64_t first, std::int64_t last) const {
        if (m_ > row_block_) {
            T* packed = packed_panels(first, last);
            pack_panels(packed, b, first, first, last);
            multiply_rows(c, a, b, packed, 0, m_, first, last);
            return;
        }
        // Every panel is read once: it is packed just before, and stays in the cache.
        const Operand<T> rows = rows_of_a(a, 0, m_);
        T* packed = packed_panels(0, 1);
        for (std::int64_t panel = first; panel < last; ++panel) {
            if (!in_place(panel)) pack_panel(packed, b, panel);
            multiply_panel(c + panel * width, rows, m_, b, packed, panel);
        }
    }

    /// One packed b for all threads, which share the rows of a.
    void run_rows(R* c, const S* a, const S* b, std::int64_t first, std::int64_t last) const {
        T* packed = packed_panels(first, last);
        parallel_for(last - first, grain(k_ * width / 16),
                     [&](std::int64_t begin, std::int64_t end) {
                         pack_panels(packed, b, first, first + begin, first + end);
                     });
        parallel_for(m_, grain(k_ * n_), [&](std::int64_t begin, std::int64_t end) {
            multiply_rows(c, a, b, packed, begin, end, first, last);
        });
    }

    static std::int64_t grain(std::int64_t multiply_adds_each) {
        return thread_grain / std::max<std::int64_t>(multiply_adds_each, 1) + 1;
    }

    std::int64_t columns(std::int64_t panel) const { return std::min(width, n_ - panel * width); }

    /// b is read in place if tiles can read its type, its rows are whole vectors, it fits the
    /// cache as it is, and it is not read often enough for a dense copy to pay off.
    bool in_place(std::int64_t panel) const {
        if (b_.transposed || m_ > 96 ||
            k_ * b_.ld * static_cast<std::int64_t>(sizeof(S)) > row_bytes)
            return false;
        if constexpr (std::is_same_v<S, T>)
            return columns(panel) == tile_columns<T>(columns(panel));
        else
            return tiles_convert && stores_tiles(panel);
    }

    /// Whether the panel's tiles are written where they belong.
    bool stores_tiles(std::int64_t panel) const {
        const std::int64_t cols = columns(panel);
        if (!stores_sums_ || cols != tile_columns<T>(cols)) return false;
        return std::is_same_v<T, R> || (tiles_convert && cols >= lanes_of<T>());
    }

    /// Panel of b as (k, tile_columns) dense, columns beyond n zero.
    void pack_panel(T* dst, const S* b, std::int64_t panel) const {
        const std::int64_t cols = columns(panel), padded = tile_columns<T>(cols);
        const std::int64_t first = panel * width;
        if (cols < padded) std::fill(dst, dst + k_ * padded, T{0});
        if (!b_.transposed) {
            for (std::int64_t p = 0; p < k_; ++p)
                convert_run(dst + p * padded, b + p * b_.ld + first, cols);
        } else if constexpr (std::is_same_v<S, T>) {
            transpose(dst, padded, b + first * b_.ld, b_.ld, cols, k_);
        } else {
            // Some rows at a time through a strip of the type computed in.
            T* strip = scratch<T>(Scratch::gemm_rows, static_cast<std::size_t>(strip_rows * k_));
            for (std::int64_t j = 0; j < cols; j += strip_rows) {
                const std::int64_t rows = std::min(strip_rows, cols - j);
                convert_rows(strip, k_, b + (first + j) * b_.ld, b_.ld, rows, k_);
                transpose(dst + j, padded, strip, k_, rows, k_);
            }
        }
    }

    /// Panels [begin, end) to where they belong in a block that starts with panel `first`.
    void pack_panels(T* packed, const S* b, std::int64_t first, std::int64_t begin,
                     std::int64_t end) const {
        for (std::int64_t panel = begin; panel < end; ++panel)
            if (!in_place(panel)) pack_panel(packed + (panel - first) * width * k_, b, panel);
    }

    /// Rows at a distance of a multiple of 1 KB map to few sets of the first-level cache: they are
    /// copied if enough panels read them.
    bool rows_collide() const {
        return !a_.transposed && a_.ld * sizeof_t % 1024 == 0 && n_ >= 4 * width;
    }

    Operand<T> rows_of_a(const S* a, std::int64_t first, std::int64_t rows) const {
        if constexpr (std::is_same_v<S, T>) {
            if (a_.transposed) return {a + first, 1, a_.ld};
            if (!rows_collide()) return {a + first * a_.ld, a_.ld, 1};
        }
        const std::int64_t length = a_.transposed ? rows : k_, count = a_.transposed ? k_ : rows;
        // Dense, unless that would make them collide.
        const std::int64_t pitch =
            length == a_.ld && length * sizeof_t % 1024 != 0 ? length : length / 16 * 16 + 32;
        T* dst = scratch<T>(Scratch::gemm_a, static_cast<std::size_t>(count * pitch));
        convert_rows(dst, pitch, a_.transposed ? a + first : a + first * a_.ld, a_.ld, count,
                     length);
        if (a_.transposed) return {dst, 1, pitch};
        return {dst, pitch, 1};
    }

    static void convert_rows(T* dst, std::int64_t dst_ld, const S* src, std::int64_t src_ld,
                             std::int64_t rows, std::int64_t length) {
        if (dst_ld == length && src_ld == length) return convert_run(dst, src, rows * length);
        for (std::int64_t i = 0; i < rows; ++i)
            convert_run(dst + i * dst_ld, src + i * src_ld, length);
    }

    /// packed starts with panel `first_panel`.
    void multiply_rows(R* c, const S* a, const S* b, const T* packed, std::int64_t begin,
                       std::int64_t end, std::int64_t first_panel, std::int64_t last_panel) const {
        for (std::int64_t first = begin; first < end; first += row_block_) {
            const std::int64_t rows = std::min(row_block_, end - first);
            const Operand<T> block = rows_of_a(a, first, rows);
            for (std::int64_t panel = first_panel; panel < last_panel; ++panel)
                multiply_panel(c + first * c_.ld + panel * width, block, rows, b,
                               packed + (panel - first_panel) * width * k_, panel);
        }
    }

    /// b is the whole operand, packed the panel's copy if it has one.
    void multiply_panel(R* c, const Operand<T>& a, std::int64_t rows, [[maybe_unused]] const S* b,
                        const T* packed, std::int64_t panel) const {
        if constexpr (std::is_same_v<S, T> || tiles_convert) {
            if (in_place(panel)) return multiply_tiles(c, a, rows, b + panel * width, b_.ld, panel);
        }
        multiply_tiles(c, a, rows, packed, tile_columns<T>(columns(panel)), panel);
    }

    /// b: the panel, in the type that it is read in, `step` elements from one row to the next.
    template <class B>
    void multiply_tiles(R* c, const Operand<T>& a, std::int64_t rows, const B* b, std::int64_t step,
                        std::int64_t panel) const {
        const std::int64_t cols = columns(panel), height = tile_rows(rows);
        TileSum sum{a.row, 1, 1, k_, 0, 0, a.col, step};
        if constexpr (std::is_same_v<T, R> || tiles_convert) {
            if (stores_tiles(panel)) {
                sum.out_step = c_.ld;
                if (store_.bias) sum.bias = store_.bias + panel * width;
                sum.relu = store_.relu;
                for (std::int64_t i = 0; i < rows; i += height)
                    tile_for<T, B, R>(std::min(height, rows - i), cols)(c + i * c_.ld,
                                                                        a.data + i * a.row, b, sum);
                return;
            }
        }
        if constexpr (std::is_same_v<B, T>) store_sums(c, a, rows, b, sum, panel);
    }

    void store_sums(R* c, const Operand<T>& a, std::int64_t rows, const T* b, const TileSum& sum,
                    std::int64_t panel) const {
        const std::int64_t cols = columns(panel), padded = tile_columns<T>(cols);
        const std::int64_t height = tile_rows(rows);
        HWY_ALIGN T sums[max_tile_rows * width + width];
        Store<T, R> store = store_;
        if (store.bias) store.bias += panel * width;
        for (std::int64_t i = 0; i < rows; i += height) {
            const std::int64_t tall = std::min(height, rows - i);
            tile_for<T>(tall, cols)(sums, a.data + i * a.row, b, sum);
            store_tile(c + i * c_.ld, c_.ld, sums, padded, tall, cols, store);
        }
    }

    std::int64_t m_, n_, k_, row_block_;
    ConstMatrix a_, b_;
    Matrix c_;
    Store<T, R> store_;
    bool stores_sums_;  ///< with bias and relu at most: tiles can be written where they belong
};

template <class T, class S, class R>
void multiply(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
              const GemmOptions& options) {
    const Product<T, S, R> product(c, a, b, options);
    const std::int64_t work = product.multiply_adds();
    if (options.batch > 1 && (work < 2 * thread_grain || options.batch >= 8)) {
        parallel_for(options.batch, thread_grain / (work + 1) + 1,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) product.run(i, options, false);
                     });
        return;
    }
    for (std::int64_t i = 0; i < options.batch; ++i)
        product.run(i, options, work >= 2 * thread_grain);
}

void multiply_dtypes(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                     const GemmOptions& options) {
    if (a.dtype == DType::f64) return multiply<double, double, double>(c, a, b, options);
    if (a.dtype == DType::f32) return multiply<float, float, float>(c, a, b, options);
    const bool wide = c.dtype == DType::f32;
    if (a.dtype == DType::f16)
        return wide ? multiply<float, Half, float>(c, a, b, options)
                    : multiply<float, Half, Half>(c, a, b, options);
    return wide ? multiply<float, BFloat16, float>(c, a, b, options)
                : multiply<float, BFloat16, BFloat16>(c, a, b, options);
}

template <class T, class R>
void clamp_rows(R* c, const Matrix& shape, std::int64_t begin, std::int64_t end) {
    using V = hn::Vec<hn::ScalableTag<T>>;
    const auto clamped = [](V v) HWY_ATTR {
        return hn::IfThenZeroElse(hn::Le(v, hn::Zero(hn::ScalableTag<T>())), v);
    };
    const std::int64_t lanes = lanes_of<T>();
    for (std::int64_t i = begin; i < end; ++i) {
        R* row = c + i * shape.ld;
        std::int64_t j = 0;
        for (; j + lanes <= shape.cols; j += lanes) store(clamped(load(row + j)), row + j);
        if (j == shape.cols) continue;
        const auto rest = static_cast<std::size_t>(shape.cols - j);
        store_part(clamped(load_part(row + j, rest)), row + j, rest);
    }
}

void clamp_dtypes(const Matrix& c, std::int64_t first, std::int64_t begin, std::int64_t end) {
    if (c.dtype == DType::f64)
        return clamp_rows<double>(static_cast<double*>(c.data) + first, c, begin, end);
    if (c.dtype == DType::f32)
        return clamp_rows<float>(static_cast<float*>(c.data) + first, c, begin, end);
    if (c.dtype == DType::f16)
        return clamp_rows<float>(static_cast<Half*>(c.data) + first, c, begin, end);
    clamp_rows<float>(static_cast<BFloat16*>(c.data) + first, c, begin, end);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {

HWY_EXPORT(multiply_dtypes);
HWY_EXPORT(clamp_dtypes);

void gemm_tiled(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options) {
    HWY_DYNAMIC_DISPATCH(multiply_dtypes)(c, a, b, options);
}

void clamp_at_zero(const Matrix& c, std::int64_t batch, std::int64_t stride) {
    for (std::int64_t i = 0; i < batch; ++i)
        parallel_for(c.rows, row_grain(c.cols), [&](std::int64_t begin, std::int64_t end) {
            HWY_DYNAMIC_DISPATCH(clamp_dtypes)(c, i * stride, begin, end);
        });
}

}  // namespace kernels::cpu
#endif
