#pragma once

#include <vector>

#include "kernels/conv2d.h"
#include "kernels/dtype.h"

/// Convolutions on a GPU that its library computes in no way that we take, so that plain loops do:
/// right, and many times slower. Whoever trains should hear of it.
namespace kernels {

enum class Conv2dPass { forward, data_gradient, weight_gradient };

struct Conv2dFallback {
    Conv2dPass pass = Conv2dPass::forward;
    DType dtype = DType::f32;
    Conv2dShape shape{};
};

/// Each pass, type and shape once, whatever its batch size. One thread at a time.
class Conv2dFallbacks {
public:
    void note(const Conv2dFallback& fallback);
    /// Those noted since the last call, in order.
    std::vector<Conv2dFallback> take();

private:
    std::vector<Conv2dFallback> known_;
    std::size_t taken_ = 0;
};

/// What falls back on this thread while the object lives is noted in `fallbacks`.
class Conv2dFallbackScope {
public:
    explicit Conv2dFallbackScope(Conv2dFallbacks& fallbacks) noexcept;
    ~Conv2dFallbackScope();
    Conv2dFallbackScope(const Conv2dFallbackScope&) = delete;
    Conv2dFallbackScope& operator=(const Conv2dFallbackScope&) = delete;

private:
    Conv2dFallbacks* before_;
};

/// For the kernels: to whoever listens on this thread.
void note_conv2d_fallback(Conv2dPass pass, DType dtype, const Conv2dShape& shape);

}  // namespace kernels
