#include "kernels/conv2d.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/conv2d_choice.h"
#include "cuda/conv2d_direct.h"
#include "cuda/conv2d_graph.h"
#include "cuda/conv2d_operands.h"
#include "cuda/gemm_finish.h"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "kernels/library_fallback.h"
#include "kernels/thread_context.h"
#include "kernels/reduce.h"

namespace kernels::cuda {
namespace {

bool is_wide(DType dtype) { return dtype == DType::f64 || dtype == DType::f32; }

/// The scratch of a pass, parts of one workspace: the library's, weights, pixels, and sums.
struct Scratch {
    std::byte *library, *weights, *pixels, *sums;
};

/// Where they lie in memory of `total` bytes.
struct ScratchPlaces {
    std::size_t weights, pixels, sums, total;
    Scratch in(void* memory) const {
        auto* const start = static_cast<std::byte*>(memory);
        return {start, start + weights, start + pixels, start + sums};
    }
};

/// cuDNN's engines load 16 bytes at a time.
bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

/// Passes by the library, and why one was not: its words, where it failed.
class LibraryPasses {
public:
    LibraryPasses(const Conv2dShape& shape, DType dtype, Stream stream)
        : s_(shape), padded_(padded_shape(shape, dtype)), stream_(stream) {}

    /// False: the library cannot, and nothing was done; so in all passes.
    bool forward(Array y, ConstArray x, ConstArray w, ConstArray bias);
    bool data_gradient(Array dx, ConstArray dy, ConstArray w);
    bool weight_gradient(Array dw, ConstArray dy, ConstArray x);
    const std::string& why() const { return why_; }

private:
    std::optional<std::size_t> library_scratch(const ConvGraph& graph);
    ScratchPlaces places(const ConvGraph& graph, std::int64_t sums, std::size_t library) const;
    std::optional<Scratch> scratch_for(const ConvGraph& graph, std::int64_t sums);
    template <typename Pointers>
    void race(const ConvGraph& graph, std::int64_t sums, const Pointers& pointers);
    template <typename Pointers>
    std::optional<Scratch> run(ConvGraph graph, std::int64_t sums, const Pointers& pointers);
    ConvGraph describe_for(ConvOperation operation, DType dtype, bool bias) const {
        const bool reads_pixels = operation != ConvOperation::data_gradient;
        return describe(operation, reads_pixels ? padded_ : s_, dtype, bias, stream_.tf32);
    }
    /// How weights are copied to or from the graph's layout.
    WeightCopy weight_copy(const ConvGraph& graph) const {
        return {s_, graph.w.dims[1], graph.w.dtype, stream_};
    }
    const void* library_weights(ConstArray w, const ConvGraph& graph, std::byte* scratch) const;
    bool pixels_need_scratch() const { return padded_.c != s_.c && s_.x_pitch != padded_.c; }
    bool may_read(ConstArray x) const { return pixels_need_scratch() || is_aligned(x.data); }
    const void* library_pixels(ConstArray x, std::byte* scratch) const;
    bool forward_at_once(Array y, ConstArray x, ConstArray w, ConstArray bias);
    bool forward_then_bias(Array y, ConstArray x, ConstArray w, ConstArray bias);
    bool forward_by_wide_sums(Array y, ConstArray x, ConstArray w, ConstArray bias);

    const Conv2dShape& s_;
    const Conv2dShape padded_;
    Stream stream_;
    std::string why_;
};

/// The weights as cuDNN takes them, copied to `scratch` if need be.
const void* LibraryPasses::library_weights(ConstArray w, const ConvGraph& graph,
                                           std::byte* scratch) const {
    const WeightCopy copy = weight_copy(graph);
    if (!copy.differs() && is_aligned(w.data)) return w.data;
    copy.to_library(scratch, w.data);
    return scratch;
}

/// The images, with zeros behind the channels if it takes them only so.
const void* LibraryPasses::library_pixels(ConstArray x, std::byte* scratch) const {
    if (!pixels_need_scratch()) return x.data;
    pad_pixels(scratch, padded_.c, x, s_, stream_);
    return scratch;
}

/// Bytes that the library needs. Nothing if it has no engine.
std::optional<std::size_t> LibraryPasses::library_scratch(const ConvGraph& graph) {
    std::string words;
    const auto needed = convolution_workspace(graph, &words);
    if (!words.empty()) why_ = words;
    return needed;
}

/// With room for weights of the graph's type, for pixels, and for the f32 sums.
ScratchPlaces LibraryPasses::places(const ConvGraph& graph, std::int64_t sums,
                                    std::size_t library) const {
    WorkspaceParts parts;
    parts.take(library);
    const std::size_t to_weights = parts.take(bytes_of(weight_size(padded_), graph.w.dtype));
    const bool pads = graph.operation != ConvOperation::data_gradient && pixels_need_scratch();
    const std::size_t to_pixels =
        parts.take(pads ? bytes_of(s_.n * s_.h * s_.w * padded_.c, graph.x.dtype) : 0);
    const std::size_t to_sums = parts.take(bytes_of(sums, DType::f32));
    return {to_weights, to_pixels, to_sums, parts.total()};
}

/// The stream's scratch for the graph. Nothing if the library has no engine. If the device has no
/// room for the scratch of the first engine, an engine that needs less replaces it for good: a
/// slower step is better than none. During a capture that ends the capture instead, and the eager
/// step after it finds the other engine.
std::optional<Scratch> LibraryPasses::scratch_for(const ConvGraph& graph, std::int64_t sums) {
    auto needed = library_scratch(graph);
    while (needed) {
        const ScratchPlaces parts = places(graph, sums, *needed);
        try {
            return parts.in(workspace(parts.total, stream_));
        } catch (const OutOfMemory&) {
            if (*needed == 0 || recording(current_device())) throw;
            needed = convolution_workspace_below(graph, *needed);
            if (!needed) throw;
        }
    }
    return std::nullopt;
}

/// Has the graph's engine chosen by a race. Its scratch is for that moment: the stream would keep
/// what the library's first choice needs, whichever engine wins.
template <typename Pointers>
void LibraryPasses::race(const ConvGraph& graph, std::int64_t sums, const Pointers& pointers) {
    const ScratchPlaces parts = places(graph, sums, 0);
    const ScopedWorkspace memory(parts.total);
    choose_convolution(graph, pointers(parts.in(memory.data())), stream_);
    synchronize(stream_);  // until here the weights are read where they were copied to
}

/// Puts the graph on the stream, by the engine that is measured to be the fastest, if the settings
/// ask for that. pointers(scratch) are its operands, made ready in the scratch where need be. Gives
/// the scratch that it used; nothing if the library cannot.
template <typename Pointers>
std::optional<Scratch> LibraryPasses::run(ConvGraph graph, std::int64_t sums,
                                          const Pointers& pointers) {
    const bool measured = plan_choice().measured;
    auto known = measured ? convolution_choice(graph) : std::nullopt;
    // Engines are not made or loaded during a recording, which would record that work.
    if (measured && !known && !recording(current_device())) {
        if (!library_scratch(graph)) return std::nullopt;
        race(graph, sums, pointers);
        known = convolution_choice(graph);
    }
    if (known) graph.engine = *known;
    auto scratch = scratch_for(graph, sums);
    if (!scratch && !graph.engine.empty()) {  // what was measured has gone
        graph.engine.clear();
        scratch = scratch_for(graph, sums);
    }
    if (!scratch) return std::nullopt;
    convolve(graph, pointers(*scratch), scratch->library, stream_);
    if (auto* const used = plan_uses()) used->push_back("cuDNN " + convolution_engine(graph));
    return scratch;
}

/// y = x * w + bias in one graph.
bool LibraryPasses::forward_at_once(Array y, ConstArray x, ConstArray w, ConstArray bias) {
    if (!may_read(x) || !is_aligned(y.data) || !is_aligned(bias.data)) return false;
    const ConvGraph graph =
        describe_for(ConvOperation::forward, y.dtype, /*bias=*/bias.data != nullptr);
    const auto pointers = [&](const Scratch& scratch) -> ConvPointers {
        return {library_pixels(x, scratch.pixels), library_weights(w, graph, scratch.weights),
                y.data, bias.data};
    };
    return run(graph, 0, pointers).has_value();
}

/// f32 and f64: the sums are stored as they were made, and the bias rounds as it would at once.
bool LibraryPasses::forward_then_bias(Array y, ConstArray x, ConstArray w, ConstArray bias) {
    if (!forward_at_once(y, x, w, {nullptr, y.dtype, 0})) return false;
    add_bias(y, y, bias, false, stream_);
    return true;
}

/// 16 bits: the sums go to f32 scratch, so that y is rounded once, with the bias. cuDNN has an
/// engine within our rules for it from 8.0 on, where channels (of a group, for the weights) are
/// even (CudnnWideSums).
bool LibraryPasses::forward_by_wide_sums(Array y, ConstArray x, ConstArray w, ConstArray bias) {
    if (!may_read(x)) return false;
    ConvGraph graph = describe_for(ConvOperation::forward, y.dtype, false);
    graph.y.dtype = DType::f32;
    const auto pointers = [&](const Scratch& scratch) -> ConvPointers {
        return {library_pixels(x, scratch.pixels), library_weights(w, graph, scratch.weights),
                scratch.sums, nullptr};
    };
    const auto scratch = run(graph, y.size, pointers);
    if (!scratch) return false;
    GemmOptions with_bias;
    with_bias.bias = bias.data;
    gemm_finish({y.data, y.dtype, y.size / s_.k, s_.k, s_.k}, scratch->sums, with_bias, stream_);
    return true;
}

bool LibraryPasses::forward(Array y, ConstArray x, ConstArray w, ConstArray bias) {
    if (forward_at_once(y, x, w, bias)) return true;
    if (!bias.data) return false;
    return is_wide(y.dtype) ? forward_then_bias(y, x, w, bias)
                            : forward_by_wide_sums(y, x, w, bias);
}

bool LibraryPasses::data_gradient(Array dx, ConstArray dy, ConstArray w) {
    if (!is_aligned(dx.data) || !is_aligned(dy.data)) return false;
    const ConvGraph graph = describe_for(ConvOperation::data_gradient, dx.dtype, false);
    const auto pointers = [&](const Scratch& scratch) -> ConvPointers {
        return {dx.data, library_weights(w, graph, scratch.weights), dy.data, nullptr};
    };
    return run(graph, 0, pointers).has_value();
}

bool LibraryPasses::weight_gradient(Array dw, ConstArray dy, ConstArray x) {
    if (!is_aligned(dy.data) || !may_read(x)) return false;
    const ConvGraph graph = describe_for(ConvOperation::weight_gradient, dw.dtype, false);
    const WeightCopy copy = weight_copy(graph);
    const bool apart = copy.differs() || !is_aligned(dw.data);
    const auto pointers = [&](const Scratch& scratch) -> ConvPointers {
        return {library_pixels(x, scratch.pixels), apart ? scratch.weights : dw.data, dy.data,
                nullptr};
    };
    const auto scratch = run(graph, 0, pointers);
    if (!scratch) return false;
    if (apart) copy.from_library(dw.data, scratch->weights);
    return true;
}

}  // namespace

void conv2d_forward(Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape,
                    Stream stream) {
    if (y.size == 0) return;
    LibraryPasses library(shape, y.dtype, stream);
    if (library.forward(y, x, w, bias)) return;
    note_fallback(Conv2dFallback{Conv2dPass::forward, y.dtype, shape, library.why()});
    conv2d_forward_direct(y, x, w, bias, shape, stream);
}

void conv2d_data_gradient(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                          Stream stream) {
    if (dx.size == 0) return;
    if (dy.size == 0) return set_zero(dx.data, bytes_of(dx), stream);
    LibraryPasses library(shape, dx.dtype, stream);
    if (library.data_gradient(dx, dy, w)) return;
    note_fallback(Conv2dFallback{Conv2dPass::data_gradient, dx.dtype, shape, library.why()});
    conv2d_data_gradient_direct(dx, dy, w, shape, stream);
}

void conv2d_weight_gradient(Array dw, Array dbias, ConstArray dy, ConstArray x,
                            const Conv2dShape& shape, Stream stream) {
    LibraryPasses library(shape, dw.dtype, stream);
    if (dw.size > 0 && (x.size == 0 || dy.size == 0)) {
        set_zero(dw.data, bytes_of(dw), stream);
    } else if (dw.size > 0 && !library.weight_gradient(dw, dy, x)) {
        note_fallback(Conv2dFallback{Conv2dPass::weight_gradient, dw.dtype, shape, library.why()});
        conv2d_weight_gradient_direct(dw, dy, x, shape, stream);
    }
    if (dbias.data && dbias.size > 0)
        reduce(dbias, dy, 1, shape.n * shape.oh() * shape.ow(), shape.k, ReduceOp::sum, stream);
}

}  // namespace kernels::cuda
