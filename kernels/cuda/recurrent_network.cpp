#include "kernels/recurrent_network.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/cudnn_rnn_plan.h"
#include "cuda/lru_cache.h"
#include "cuda/native.h"
#include "cuda/per_device.h"
#include "cuda/recording.h"
#include "cuda/recurrent_choice.h"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"
#include "kernels/thread_context.h"

namespace kernels::cuda {
namespace {

/// More than a training run has; a plan is a few descriptors.
constexpr std::size_t max_plans = 256;

struct Key {
    RecurrentNetwork network;
    int device;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
        const RecurrentNetwork& n = key.network;
        const std::int64_t flags = std::int64_t{n.bidirectional} | std::int64_t{n.biases} << 1 |
                                   std::int64_t{n.tf32} << 2 | std::int64_t{n.training} << 3 |
                                   std::int64_t{n.measured} << 4;
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (const std::int64_t word :
             {static_cast<std::int64_t>(n.cell), static_cast<std::int64_t>(n.dtype), n.steps,
              n.batch, n.input, n.hidden, n.layers, flags, std::int64_t{key.device}}) {
            hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3u;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash);
    }
};

/// One for each device, since a race waits for its own with the mutex held.
struct Library {
    std::mutex mutex;  // of all below, and of the handle while it is given work
    rnn::Handle handle = nullptr;
    LruCache<Key, std::shared_ptr<rnn::Plan>, KeyHash> plans{max_plans};
};

rnn::Handle handle_of(Library& lib) {
    rnn::Handle& handle = lib.handle;
    if (handle) return handle;
    rnn::Status status = rnn::table().create(&handle);
    if (status != rnn::success) {  // it takes memory of the device
        trim_caches();
        status = rnn::table().create(&handle);
    }
    if (status != rnn::success) handle = nullptr;
    rnn::check(status, "cudnnCreate");
    return handle;
}

std::shared_ptr<rnn::Plan> make_standard_plan(rnn::Handle handle, const RecurrentNetwork& network) {
    try {
        return std::make_shared<rnn::Plan>(handle, network);
    } catch (const OutOfMemory&) {
        trim_caches();
    }
    return std::make_shared<rnn::Plan>(handle, network);
}

std::shared_ptr<rnn::Plan> make_plan(rnn::Handle handle, const RecurrentNetwork& network) {
    auto standard = make_standard_plan(handle, network);
    if (!network.measured || !standard->found()) return standard;
    return fastest_plan(handle, network, standard);
}

/// lib.mutex is held.
std::shared_ptr<rnn::Plan> plan_of(Library& lib, rnn::Handle handle,
                                   const RecurrentNetwork& network) {
    RecurrentNetwork told = network;
    told.tf32 = network.tf32 && network.dtype == DType::f32;
    return lib.plans.get({told, current_device()}, [&] { return make_plan(handle, told); });
}

/// False, and the plan is dropped, if the library does not support what it was asked to run.
bool ran(rnn::Plan& plan, rnn::Status status, const char* call) {
    if (rnn::is_not_supported(status)) {
        plan.refuse();
        return false;
    }
    rnn::check(status, call);
    count_launch();
    if (auto* const used = plan_uses())
        used->push_back(std::string("cuDNN ") + rnn::name_of(plan.algorithm()));
    return true;
}

/// The library takes all weights in one block of its own order. Parameters that do not lie in such
/// a block are copied into one, so a forward pass reads and writes their bytes once more than it
/// would have to, and a backward pass the bytes of their gradients. For the 6.8 M weights of a
/// two-layer LSTM of 650 in 16 bits that is 27 MB each: 6 us at 4.3 TB/s.
void pack(const rnn::Plan& plan, const RecurrentForwardPass& pass, Stream stream) {
    auto* const space = static_cast<std::byte*>(pass.weights);
    if (plan.has_gaps()) set_zero(space, plan.spaces().weights, stream);
    for (const rnn::WeightPiece& piece : plan.pieces()) {
        const auto* from = static_cast<const std::byte*>(pass.params[piece.param]);
        copy_on_device(space + piece.in_space, from + piece.in_param, piece.bytes, stream);
    }
}

void unpack(const rnn::Plan& plan, const RecurrentBackwardPass& pass, Stream stream) {
    const auto* space = static_cast<const std::byte*>(pass.d_weights);
    for (const rnn::WeightPiece& piece : plan.pieces()) {
        auto* to = static_cast<std::byte*>(pass.d_params[piece.param]);
        copy_on_device(to + piece.in_param, space + piece.in_space, piece.bytes, stream);
    }
}

/// Calls f(plan, handle, scratch) where the library can; its handle is on the stream.
template <typename F>
bool with_plan(const RecurrentNetwork& network, Stream stream, const F& f) {
    void* native = native_stream(stream);
    Library& lib = one_per_device<Library>(current_device());
    const std::lock_guard lock(lib.mutex);
    const rnn::Handle handle = handle_of(lib);
    const auto plan = plan_of(lib, handle, network);
    if (!plan->found()) return false;
    keep_if_recorded(plan, stream);
    rnn::check(rnn::table().set_stream(handle, native), "cudnnSetStream");
    return f(*plan, handle, workspace(plan->workspace_bytes(), stream));
}

}  // namespace

std::optional<RecurrentSpaces> recurrent_spaces(const RecurrentNetwork& network) {
    native_stream({});  // the handle is made for the thread's device
    Library& lib = one_per_device<Library>(current_device());
    const std::lock_guard lock(lib.mutex);
    const auto plan = plan_of(lib, handle_of(lib), network);
    if (!plan->found()) return std::nullopt;
    return plan->spaces();
}

bool recurrent_network_forward(const RecurrentNetwork& network, const RecurrentForwardPass& pass,
                               Stream stream) {
    return with_plan(network, stream, [&](rnn::Plan& plan, rnn::Handle handle, void* scratch) {
        if (!pass.params.empty()) pack(plan, pass, stream);
        return ran(plan, plan.forward(handle, pass, scratch), "cudnnRNNForward");
    });
}

bool recurrent_network_backward(const RecurrentNetwork& network, const RecurrentBackwardPass& pass,
                                Stream stream) {
    return with_plan(network, stream, [&](rnn::Plan& plan, rnn::Handle handle, void* scratch) {
        // The weights' gradients are made of what the data's pass leaves in the reserve.
        if (!ran(plan, plan.backward_data(handle, pass, scratch), "cudnnRNNBackwardData_v8"))
            return false;
        set_zero(pass.d_weights, plan.spaces().weights, stream);  // the library adds to them
        if (!ran(plan, plan.backward_weights(handle, pass, scratch), "cudnnRNNBackwardWeights_v8"))
            return false;
        if (!pass.d_params.empty()) unpack(plan, pass, stream);
        return true;
    });
}

}  // namespace kernels::cuda
