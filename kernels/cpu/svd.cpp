#include "kernels/svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

using Column = std::vector<double>;

double dot(const Column& a, const Column& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// a, b become (c a - s b, s a + c b).
void rotate(Column& a, Column& b, double c, double s) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double left = a[i], right = b[i];
        a[i] = c * left - s * right;
        b[i] = s * left + c * right;
    }
}

/// The matrix, transposed if needed so that it has at least as many rows as columns, by columns:
/// work = x v, v orthogonal. At the end the columns of work are orthogonal, and their lengths are
/// the singular values.
struct Jacobi {
    std::vector<Column> work, v;

    Jacobi(const double* x, std::int64_t rows, std::int64_t cols, double scale) {
        const bool wide = rows < cols;
        const std::int64_t length = std::max(rows, cols), k = std::min(rows, cols);
        for (std::int64_t j = 0; j < k; ++j) {
            Column column, unit(static_cast<std::size_t>(k), 0.0);
            for (std::int64_t i = 0; i < length; ++i)
                column.push_back(scale * (wide ? x[j * cols + i] : x[i * cols + j]));
            unit[static_cast<std::size_t>(j)] = 1;
            work.push_back(std::move(column));
            v.push_back(std::move(unit));
        }
    }

    /// Makes columns p and q orthogonal; false if they are.
    bool turn(std::size_t p, std::size_t q) {
        const double pp = dot(work[p], work[p]), qq = dot(work[q], work[q]);
        const double pq = dot(work[p], work[q]);
        const double small = std::numeric_limits<double>::epsilon() * std::sqrt(pp * qq);
        if (std::fabs(pq) <= small || pq == 0) return false;
        const double zeta = (qq - pp) / (2 * pq);
        const double t = std::copysign(1.0, zeta) / (std::fabs(zeta) + std::hypot(1.0, zeta));
        const double c = 1 / std::hypot(1.0, t), s = c * t;
        rotate(work[p], work[q], c, s);
        rotate(v[p], v[q], c, s);
        return true;
    }

    void run() {
        bool turned = true;
        for (int sweep = 0; sweep < 60 && turned; ++sweep) {
            turned = false;
            for (std::size_t p = 0; p + 1 < work.size(); ++p)
                for (std::size_t q = p + 1; q < work.size(); ++q) turned = turn(p, q) || turned;
        }
    }
};

/// `column` without its parts along the others; the length that is left.
double without(Column& column, const std::vector<Column>& others) {
    for (int twice = 0; twice < 2; ++twice)
        for (const Column& other : others) {
            const double along = dot(column, other);
            for (std::size_t i = 0; i < column.size(); ++i) column[i] -= along * other[i];
        }
    return std::sqrt(dot(column, column));
}

/// A unit vector orthogonal to those that are there: the best of the axes.
Column another(const std::vector<Column>& others, std::size_t length) {
    Column best;
    double longest = -1;
    for (std::size_t axis = 0; axis < length; ++axis) {
        Column candidate(length, 0.0);
        candidate[axis] = 1;
        const double left = without(candidate, others);
        if (left > longest) {
            longest = left;
            best = std::move(candidate);
        }
    }
    for (double& value : best) value /= longest;
    return best;
}

/// Into row-major memory (length, k), by columns.
void put(double* to, const std::vector<Column>& columns) {
    for (std::size_t j = 0; j < columns.size(); ++j)
        for (std::size_t i = 0; i < columns[j].size(); ++i)
            to[i * columns.size() + j] = columns[j][i];
}

void one(double* u, double* s, double* v, const double* x, std::int64_t rows, std::int64_t cols) {
    const std::int64_t k = std::min(rows, cols), size = rows * cols;
    double largest = 0;
    bool finite = true;
    for (std::int64_t i = 0; i < size; ++i) {
        largest = std::max(largest, std::fabs(x[i]));
        finite = finite && std::isfinite(x[i]);
    }
    if (!finite) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        std::fill_n(u, rows * k, nan);
        std::fill_n(s, k, nan);
        std::fill_n(v, cols * k, nan);
        return;
    }
    // A power of two, so that no square overflows or vanishes and no digit is lost.
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    Jacobi jacobi(x, rows, cols, std::ldexp(1.0, -exponent));
    jacobi.run();
    std::vector<double> lengths;
    for (const Column& column : jacobi.work) lengths.push_back(std::sqrt(dot(column, column)));
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
    std::vector<Column> left, right;
    for (const std::size_t j : order) {
        Column unit = std::move(jacobi.work[j]);
        for (double& value : unit) value /= lengths[j];
        left.push_back(lengths[j] > 0
                           ? std::move(unit)
                           : another(left, static_cast<std::size_t>(std::max(rows, cols))));
        right.push_back(std::move(jacobi.v[j]));
        s[left.size() - 1] = std::ldexp(lengths[j], exponent);
    }
    put(rows < cols ? v : u, left);
    put(rows < cols ? u : v, right);
}

}  // namespace

void svd(double* u, double* s, double* v, const double* x, std::int64_t count, std::int64_t rows,
         std::int64_t cols) {
    const std::int64_t k = std::min(rows, cols);
    if (k == 0) return;
    parallel_for(count, row_grain(64 * rows * cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            one(u + i * rows * k, s + i * k, v + i * cols * k, x + i * rows * cols, rows, cols);
    });
}

}  // namespace kernels::cpu
