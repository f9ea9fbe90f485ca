#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cuda/conv2d_graph.h"
#include "simt/elements.h"
#include "simt/libraries.h"
#include "simt/library_plans.h"
#include "simt/queue.h"
#include "simt/work_counts.h"

// The simulated device's cuDNN for convolutions: computes the description element by element.
namespace kernels::cuda {
namespace {

std::int64_t count(const ConvTensor& t) { return t.dims[0] * t.dims[1] * t.dims[2] * t.dims[3]; }
std::int64_t bytes_of(const ConvTensor& t) {
    return count(t) * static_cast<std::int64_t>(size_of(t.dtype));
}

constexpr const char* call = "cudnnBackendExecute";

/// Two of the three tensors are read, and one is written.
void count_operands(const ConvGraph& g) {
    const ConvTensor& written = g.operation == ConvOperation::forward         ? g.y
                                : g.operation == ConvOperation::data_gradient ? g.x
                                                                              : g.w;
    const std::int64_t all = bytes_of(g.x) + bytes_of(g.w) + bytes_of(g.y);
    simt::count_bytes(call, all - bytes_of(written) + (g.bias ? bytes_of(*g.bias) : 0),
                      bytes_of(written));
}

/// Calls f(place in the dense order of the dims as `order` names them, place in memory).
template <class F>
void for_each_element(const ConvTensor& t, const std::array<std::size_t, 4>& order, const F& f) {
    const auto size = [&](std::size_t i) { return t.dims[order[i]]; };
    const auto stride = [&](std::size_t i) { return t.strides[order[i]]; };
    std::size_t dense = 0;
    for (std::int64_t a = 0; a < size(0); ++a)
        for (std::int64_t b = 0; b < size(1); ++b)
            for (std::int64_t c = 0; c < size(2); ++c)
                for (std::int64_t d = 0; d < size(3); ++d)
                    f(dense++, a * stride(0) + b * stride(1) + c * stride(2) + d * stride(3));
}

constexpr std::array<std::size_t, 4> channels_last{0, 2, 3, 1}, outputs_last{1, 2, 3, 0};

template <typename S>
std::vector<S> read(const void* data, const ConvTensor& t,
                    const std::array<std::size_t, 4>& order = channels_last) {
    std::vector<S> out(static_cast<std::size_t>(count(t)));
    for_each_element(t, order, [&](std::size_t dense, std::int64_t at) {
        out[dense] = static_cast<S>(simt::load(data, t.dtype, at));
    });
    return out;
}

template <typename S>
void write(const void* data, const ConvTensor& t, const std::vector<S>& values) {
    for_each_element(t, channels_last, [&](std::size_t dense, std::int64_t at) {
        simt::store(const_cast<void*>(data), t.dtype, at, static_cast<double>(values[dense]));
    });
}

/// Calls f(channel, tap, x, y) for each image, channel below `channels`, weight of the window and
/// output pixel whose input pixel exists. x and y are the numbers of the two pixels.
template <class F>
void for_each_pair(const ConvGraph& g, std::int64_t channels, const F& f) {
    const std::int64_t n = g.x.dims[0], h = g.x.dims[2], width = g.x.dims[3];
    const std::int64_t r = g.w.dims[2], s = g.w.dims[3], oh = g.y.dims[2], ow = g.y.dims[3];
    const std::int64_t step = g.stride[1];
    for (std::int64_t in = 0; in < n; ++in)
        for (std::int64_t channel = 0; channel < channels; ++channel)
            for (std::int64_t ir = 0; ir < r; ++ir)
                for (std::int64_t is = 0; is < s; ++is) {
                    const std::int64_t first = is * g.dilation[1] - g.padding[1];
                    const std::int64_t begin = first < 0 ? (step - 1 - first) / step : 0;
                    const std::int64_t end = std::min(ow, (width - first + step - 1) / step);
                    for (std::int64_t y = 0; y < oh; ++y) {
                        const std::int64_t row =
                            y * g.stride[0] - g.padding[0] + ir * g.dilation[0];
                        if (row < 0 || row >= h) continue;
                        for (std::int64_t i = begin; i < end; ++i)
                            f(channel, ir * s + is, (in * h + row) * width + first + i * step,
                              (in * oh + y) * ow + i);
                    }
                }
}

/// to[i] += factor * from[i]: the innermost loop of every convolution, over neighbouring channels,
/// so that the compiler can add several at a time and each sum keeps its order.
template <typename S>
void add_scaled(S* __restrict to, S factor, const S* __restrict from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

template <typename S>
void run(const ConvGraph& g, const ConvPointers& p) {
    const std::int64_t c = g.x.dims[1], k = g.w.dims[0], taps = g.w.dims[2] * g.w.dims[3];
    const std::int64_t group_c = g.w.dims[1], groups = c / group_c, group_k = k / groups;
    const auto zeros = [](const ConvTensor& t) {
        return std::vector<S>(static_cast<std::size_t>(count(t)));
    };
    if (g.operation == ConvOperation::forward) {
        const auto x = read<S>(p.x, g.x), w = read<S>(p.w, g.w, outputs_last);
        auto y = zeros(g.y);
        for_each_pair(g, group_c, [&](auto ic, auto tap, auto ix, auto iy) {
            for (std::int64_t group = 0; group < groups; ++group)
                add_scaled(y.data() + iy * k + group * group_k,
                           x[static_cast<std::size_t>(ix * c + group * group_c + ic)],
                           w.data() + (ic * taps + tap) * k + group * group_k, group_k);
        });
        if (g.bias) {
            const auto bias = read<S>(p.bias, *g.bias);
            for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
        }
        write(p.y, g.y, y);
    } else if (g.operation == ConvOperation::data_gradient) {
        const auto dy = read<S>(p.y, g.y), w = read<S>(p.w, g.w);
        auto dx = zeros(g.x);
        for_each_pair(g, k, [&](auto ik, auto tap, auto ix, auto iy) {
            add_scaled(dx.data() + ix * c + ik / group_k * group_c,
                       dy[static_cast<std::size_t>(iy * k + ik)],
                       w.data() + (ik * taps + tap) * group_c, group_c);
        });
        write(p.x, g.x, dx);
    } else {
        const auto dy = read<S>(p.y, g.y), x = read<S>(p.x, g.x);
        auto dw = zeros(g.w);
        for_each_pair(g, k, [&](auto ik, auto tap, auto ix, auto iy) {
            add_scaled(dw.data() + (ik * taps + tap) * group_c,
                       dy[static_cast<std::size_t>(iy * k + ik)],
                       x.data() + ix * c + ik / group_k * group_c, group_c);
        });
        write(p.w, g.w, dw);
    }
}

std::string name_of(int engine) { return "engine " + std::to_string(engine); }

/// The graphs that the second engine supports, and the scratch that their engines need. convolve()
/// fills all of it, so that a caller that provides less is detected.
class Engines {
public:
    std::size_t scratch_of(const ConvGraph& graph) {
        const std::lock_guard lock(mutex_);
        forget_other_settings();
        if (seconds_.contains(graph)) return min_scratch;
        const std::size_t later = simt::library_settings().racers_scratch;
        const bool is_first = graph.engine.empty() || graph.engine == name_of(0);
        return is_first || later == 0 ? first_scratch() : later;
    }
    /// False if the second engine does not need less.
    bool take_second(const ConvGraph& graph, std::size_t below) {
        const std::lock_guard lock(mutex_);
        forget_other_settings();
        if (min_scratch >= below) return false;
        seconds_.insert(graph);
        return true;
    }

private:
    static constexpr std::size_t min_scratch = 1000;
    static std::size_t first_scratch() { return simt::library_settings().convolution_scratch; }
    void forget_other_settings() {
        if (std::exchange(generation_, simt::library_generation()) != simt::library_generation())
            seconds_.clear();
    }

    std::mutex mutex_;
    std::unordered_set<ConvGraph, ConvGraphHash> seconds_;
    int generation_ = 0;
};
Engines& engines() {
    static auto* only = new Engines;
    return *only;
}

/// The number of the engine that the graph names, or the first's; -1 if there is none of the name.
int engine_of(const ConvGraph& graph) {
    if (graph.engine.empty()) return 0;
    for (const int engine : simt::algorithms_offered(graph.bit_stable))
        if (graph.engine == name_of(engine) && !simt::fails(engine)) return engine;
    return -1;
}

bool supports(const ConvGraph& graph) {
    const simt::LibrarySettings settings = simt::library_settings();
    return settings.convolution && engine_of(graph) >= 0 &&
           (!graph.bias || settings.convolution_bias) &&
           (graph.y.dtype == graph.x.dtype || settings.convolution_wide);
}

simt::LibraryPlans<ConvGraph, ConvGraphHash>& plans() {
    static auto* only =
        new simt::LibraryPlans<ConvGraph, ConvGraphHash>;  // never freed, like the real one
    return *only;
}

}  // namespace

std::optional<std::size_t> convolution_workspace(const ConvGraph& graph, std::string* why) {
    if (!plans().get(
            graph, [&] { return supports(graph); }, why))
        return std::nullopt;
    return engines().scratch_of(graph);
}

std::optional<std::size_t> convolution_workspace_below(const ConvGraph& graph, std::size_t bytes) {
    if (!engines().take_second(graph, bytes)) return std::nullopt;
    return engines().scratch_of(graph);
}

std::vector<std::string> convolution_engines(const ConvGraph& graph) {
    std::vector<std::string> names;
    if (supports(graph))
        for (const int engine : simt::algorithms_offered(graph.bit_stable))
            if (!simt::fails(engine)) names.push_back(name_of(engine));
    return names;
}

void forget_convolution(const ConvGraph& graph) { plans().forget(graph); }

std::string convolution_engine(const ConvGraph& graph) { return name_of(engine_of(graph)); }

void convolve(const ConvGraph& graph, const ConvPointers& pointers, void* workspace,
              Stream stream) {
    const auto plan = plans().use(
        graph, [&] { return supports(graph); }, stream);
    if (!plan) throw std::logic_error("a convolution that was refused");
    for (const void* data : {pointers.x, pointers.w, pointers.y, pointers.bias})
        if (reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
            throw std::logic_error("a convolution's operand that is not aligned");
    simt::enqueue(call, stream,
                  simt::with_kernels_of(
                      plan, [graph, pointers, workspace, scratch = engines().scratch_of(graph)] {
                          simt::run_algorithm(engine_of(graph));
                          count_operands(graph);
                          std::fill_n(static_cast<unsigned char*>(workspace), scratch, 0xffu);
                          if (graph.x.dtype == DType::f64)
                              run<double>(graph, pointers);
                          else
                              run<float>(graph, pointers);
                      }));
}

}  // namespace kernels::cuda
