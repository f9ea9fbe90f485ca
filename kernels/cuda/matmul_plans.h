#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/cublas_lt_api.h"
#include "cuda/lru_cache.h"
#include "kernels/plan_choice.h"

/// Plans of cuBLASLt products: descriptors and an algorithm of those that its heuristic names.
namespace kernels::cuda::lt {

/// A matrix as it lies in memory, column-major: `rows` is the extent that is contiguous.
struct Operand {
    std::int64_t rows = 0, cols = 0, ld = 0, stride = 0;
    bool transposed = false;     ///< the product takes its transpose
    std::int64_t alignment = 1;  ///< in bytes, of its first element; at most 256
};

/// d = alpha op(a) op(b) + beta d, column-major, `batch` times.
struct Product {
    DataType in = DataType::f32, out = DataType::f32;
    ComputeType compute = ComputeType::f32;
    Operand a, b, d;
    std::int64_t batch = 1;
    Epilogue epilogue = Epilogue::none;
    /// In bytes, of the vector of d's type that the epilogue reads or writes; 0: there is none.
    std::int64_t bias_alignment = 0;
    PlanChoice choice;
    int device = 0;

    std::array<std::int64_t, 20> key() const;
    /// A text that is the same in every run: all but the device.
    std::string text() const;
};

struct KeyHash {
    std::size_t operator()(const std::array<std::int64_t, 20>& words) const noexcept;
};

/// Descriptors of a product and the algorithm for it. Moves only. A recorded graph need not hold
/// it: the algorithm is a number of a kernel in the library, whose modules its handle keeps, and
/// scales and addresses are read from the host when the product is given to the stream.
class Plan {
public:
    /// Asks the heuristic for at most `workspace_bytes` of scratch.
    Plan(Handle handle, const Product& product, std::size_t workspace_bytes);
    ~Plan();
    Plan(Plan&& other) noexcept;
    Plan& operator=(Plan&&) = delete;

    /// False: the library has no algorithm for it.
    bool found() const { return !offers_.empty(); }

    /// Names of the algorithms that the heuristic offers, its first choice first: that is the one
    /// until another is chosen.
    std::vector<std::string> names() const;
    /// Adds the algorithm of that name to the offers, if the library that is open can run it and it
    /// needs no more scratch than the plan has: another process was offered it, and the heuristic
    /// need not name it again. The same rules for sums held there (they are part of
    /// Product::text()).
    void restore(Handle handle, const std::string& name);
    void choose(std::size_t offer) {
        if (offer != chosen_) keeps_nan.reset();
        chosen_ = offer;
    }
    /// Whether it is known which of them runs from now on.
    bool settled() const { return settled_; }
    void settle(std::size_t offer) {
        choose(offer);
        settled_ = true;
    }
    /// The chosen one for a reader.
    std::string words() const;

    /// Whether relu keeps NaN in the chosen algorithm; unknown until it was tried.
    std::optional<bool> keeps_nan;

    struct Call {
        const void *a, *b;
        void* d;
        const void* bias;  ///< or where the sums of an operand are written
        double alpha, beta;
        void* workspace;
        void* stream;
    };
    void run(Handle handle, const Call& call);

private:
    void describe(const Product& product);
    void destroy() noexcept;
    void ask(Handle handle, const Product& product, std::size_t workspace_bytes);

    Desc desc_ = nullptr;
    Layout a_ = nullptr, b_ = nullptr, d_ = nullptr;
    bool wide_ = false;  // scaled in f64
    struct Offer {
        Algorithm algorithm;
        std::size_t workspace_bytes;
    };
    std::vector<Offer> offers_;
    std::size_t max_workspace_ = 0;
    std::size_t chosen_ = 0;
    bool settled_ = false;
};

using PlanCache = LruCache<std::array<std::int64_t, 20>, Plan, KeyHash>;

}  // namespace kernels::cuda::lt
