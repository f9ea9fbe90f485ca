#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kernels/attention.h"
#include "kernels/conv2d.h"
#include "kernels/dtype.h"
#include "kernels/thread_context.h"

/// Work that a GPU library does not support and our fallback computes: correct, but slower or with
/// more memory. The user gets a warning.
namespace kernels {

enum class Conv2dPass { forward, data_gradient, weight_gradient };

/// A convolution by plain loops, many times slower.
struct Conv2dFallback {
    Conv2dPass pass = Conv2dPass::forward;
    DType dtype = DType::f32;
    Conv2dShape shape{};
    std::string why{};  ///< the library's words if it failed; empty: it has no way that we take
};

/// Attention composed of products and a softmax, with all scores in memory.
struct AttentionFallback {
    Attention attention{};
    std::string why{};
};

using LibraryFallback = std::variant<Conv2dFallback, AttentionFallback>;

/// Each pass, type and shape once, whatever its batch size. One thread at a time.
class LibraryFallbacks {
public:
    void note(const LibraryFallback& fallback);
    /// The fallbacks recorded since the last call, in order.
    std::vector<LibraryFallback> take();

private:
    std::vector<LibraryFallback> known_;
    std::size_t taken_ = 0;
};

/// Records the fallback in LibraryContext::fallbacks of the thread, if there are any.
void note_fallback(const LibraryFallback& fallback);

}  // namespace kernels
