#include "ops/vision/pixel_shuffle.h"

#include "engine/base/error.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

TensorList run_shuffle(const OpArguments& args) {
    return {pixel_shuffle(args.at(0), args.integer("upscale_factor", 1))};
}
TensorList run_unshuffle(const OpArguments& args) {
    return {pixel_unshuffle(args.at(0), args.integer("downscale_factor", 1))};
}
TensorList run_channels(const OpArguments& args) {
    return {channel_shuffle(args.at(0), args.integer("groups", 1))};
}

constexpr const char* moves = "Moves elements: the type does not change.";

[[noreturn]] void refuse(const OpInfo& info, const Tensor& x, std::int64_t factor) {
    throw Error(ErrorCode::shape, std::string(info.name) + ": " + to_string(x.shape()) +
                                      " does not fit a factor of " + std::to_string(factor));
}

/// x as (batch, C, H, W).
Tensor flat_batch(const Tensor& x) {
    std::int64_t batch = 1;
    for (int i = 0; i < x.rank() - 3; ++i) batch *= x.size(i);
    return reshape(x, {batch, x.size(x.rank() - 3), x.size(x.rank() - 2), x.size(x.rank() - 1)});
}

Tensor in_batch_of(const Tensor& x, const Tensor& y, std::int64_t c, std::int64_t h,
                   std::int64_t w) {
    Shape shape = x.shape();
    shape[x.rank() - 3] = c;
    shape[x.rank() - 2] = h;
    shape[x.rank() - 1] = w;
    return reshape(y, shape);
}

}  // namespace

const OpInfo pixel_shuffle_info{
    "pixel_shuffle", CastPolicy::none, "pixel_shuffle(x; upscale_factor)", 2, moves, run_shuffle};
const OpInfo pixel_unshuffle_info{
    "pixel_unshuffle", CastPolicy::none, "pixel_unshuffle(x; downscale_factor)", 2, moves,
    run_unshuffle};
const OpInfo channel_shuffle_info{
    "channel_shuffle", CastPolicy::none, "channel_shuffle(x; groups)", 2, moves, run_channels};

Tensor pixel_shuffle(const Tensor& x, std::int64_t r) {
    const std::int64_t square = r < 1 ? 1 : checked_product(r, r);
    if (r < 1 || x.rank() < 3 || x.size(x.rank() - 3) % square != 0)
        refuse(pixel_shuffle_info, x, r);
    const Tensor flat = flat_batch(x);
    const std::int64_t n = flat.size(0), c = flat.size(1) / square, h = flat.size(2),
                       w = flat.size(3);
    const Tensor y = permute(reshape(flat, {n, c, r, r, h, w}), {0, 1, 4, 2, 5, 3});
    return in_batch_of(x, y, c, checked_product(h, r), checked_product(w, r));
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t r) {
    if (r < 1 || x.rank() < 3 || x.size(x.rank() - 2) % r != 0 || x.size(x.rank() - 1) % r != 0)
        refuse(pixel_unshuffle_info, x, r);
    const Tensor flat = flat_batch(x);
    const std::int64_t n = flat.size(0), c = flat.size(1), h = flat.size(2) / r,
                       w = flat.size(3) / r;
    const Tensor y = permute(reshape(flat, {n, c, h, r, w, r}), {0, 1, 3, 5, 2, 4});
    return in_batch_of(x, y, checked_product(c, checked_product(r, r)), h, w);
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups) {
    if (groups < 1 || x.rank() < 3 || x.size(1) % groups != 0)
        refuse(channel_shuffle_info, x, groups);
    const std::int64_t n = x.size(0), c = x.size(1);
    const std::int64_t rest = c == 0 || n == 0 ? 0 : x.numel() / n / c;
    const Tensor y = permute(reshape(x, {n, groups, c / groups, rest}), {0, 2, 1, 3});
    return reshape(y, x.shape());
}

}  // namespace engine
