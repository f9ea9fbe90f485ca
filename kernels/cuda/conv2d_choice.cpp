#include "cuda/conv2d_choice.h"

#include <mutex>
#include <vector>

#include "cuda/autotuner.h"
#include "cuda/lru_cache.h"
#include "kernels/cuda_device.h"

namespace kernels::cuda {
namespace {

struct Choices {
    std::mutex mutex;
    LruCache<ConvGraph, std::string, ConvGraphHash> engines{512};  // as many as there are plans
};
Choices& choices() {
    static auto* only = new Choices;  // as the plans
    return *only;
}

ConvGraph by(const ConvGraph& graph, const std::string& engine) {
    ConvGraph out = graph;
    out.engine = engine;
    return out;
}

/// Runs of one engine after another.
class Racers {
public:
    Racers(const ConvGraph& graph, const ConvPointers& pointers, Stream stream)
        : graph_(graph), pointers_(pointers), stream_(stream) {}

    bool run(const std::string& engine) {
        const ConvGraph graph = by(graph_, engine);
        if (engine != at_turn_) {
            scratch_.reset();
            at_turn_ = engine;
            const auto bytes = convolution_workspace(graph, nullptr);
            if (!bytes) return false;
            scratch_.emplace(*bytes);
        }
        if (!scratch_) return false;
        convolve(graph, pointers_, scratch_->data(), stream_);
        return true;
    }

private:
    const ConvGraph& graph_;
    const ConvPointers& pointers_;
    Stream stream_;
    std::string at_turn_;
    std::optional<RaceMemory> scratch_;
};

void choose(const ConvGraph& graph, const std::string& engine) {
    Choices& all = choices();
    const std::lock_guard lock(all.mutex);
    all.engines.get(graph, [] { return std::string(); }) = engine;
}

std::optional<std::string> chosen(const ConvGraph& graph) {
    Choices& all = choices();
    const std::lock_guard lock(all.mutex);
    if (!all.engines.holds(graph)) return std::nullopt;
    return all.engines.get(graph, [] { return std::string(); });
}

}  // namespace

std::optional<std::string> convolution_choice(const ConvGraph& graph) {
    if (auto engine = chosen(graph)) return engine;
    const auto stored = stored_winner(text(graph), "cuDNN");
    if (!stored || !convolution_workspace(by(graph, *stored), nullptr)) return std::nullopt;
    choose(graph, *stored);
    return stored;
}

void choose_convolution(const ConvGraph& graph, const ConvPointers& pointers, Stream stream) {
    const std::vector<std::string> engines = convolution_engines(graph);
    if (engines.size() > 1) {
        Racers racers(graph, pointers, stream);
        const auto run = [&](std::size_t i) {
            return runs([&] { return racers.run(engines[i]); });
        };
        const auto winner = select_algorithm({text(graph), "cuDNN", engines, run}, stream);
        synchronize(stream);
        choose(graph, winner ? engines[*winner] : "");
        forget_convolution(graph);
    } else {
        choose(graph, "");
    }
    // They share what was made for the race; the winner's plan is made anew, alone.
    for (const std::string& engine : engines) forget_convolution(by(graph, engine));
}

}  // namespace kernels::cuda
