#include "kernels/library_fallback.h"

#include <algorithm>

namespace kernels {
namespace {

bool alike(const Conv2dFallback& a, const Conv2dFallback& b) {
    Conv2dShape shape = a.shape;
    shape.n = b.shape.n;
    return a.pass == b.pass && a.dtype == b.dtype && shape == b.shape;
}

/// Strides are ignored: one report a shape is enough.
bool alike(const AttentionFallback& one, const AttentionFallback& other) {
    const Attention &a = one.attention, &b = other.attention;
    return a.pass == b.pass && a.dtype == b.dtype && a.heads == b.heads &&
           a.kv_heads == b.kv_heads && a.queries == b.queries && a.keys == b.keys &&
           a.qk_size == b.qk_size && a.v_size == b.v_size && a.causal == b.causal;
}

bool alike(const LibraryFallback& a, const LibraryFallback& b) {
    return std::visit(
        [&b](const auto& one) {
            const auto* other = std::get_if<std::decay_t<decltype(one)>>(&b);
            return other && alike(one, *other);
        },
        a);
}

}  // namespace

void LibraryFallbacks::note(const LibraryFallback& fallback) {
    const auto known = [&](const LibraryFallback& other) { return alike(fallback, other); };
    if (std::none_of(known_.begin(), known_.end(), known)) known_.push_back(fallback);
}

std::vector<LibraryFallback> LibraryFallbacks::take() {
    const auto first = known_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ = known_.size();
    return {first, known_.end()};
}

void note_fallback(const LibraryFallback& fallback) {
    if (LibraryFallbacks* const all = LibraryContext::of_thread().fallbacks) all->note(fallback);
}

}  // namespace kernels
