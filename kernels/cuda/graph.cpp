#include "kernels/cuda_graph.h"

#include <utility>

#include "cuda/check.h"
#include "cuda/native.h"
#include "cuda/recording.h"
#include "cuda/state.h"

namespace kernels::cuda {
namespace {

cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(native_stream(stream)); }

class NativeGraph final : public Graph {
public:
    NativeGraph(cudaGraph_t recorded, Kept kept) : kept_(std::move(kept)) {
        std::size_t nodes = 0;
        check(cudaGraphGetNodes(recorded, nullptr, &nodes), "cudaGraphGetNodes");
        nodes_ = static_cast<std::int64_t>(nodes);
        check_memory(cudaGraphInstantiate(&graph_, recorded, 0), "cudaGraphInstantiate", 0);
    }
    ~NativeGraph() override {
        if (lost()) return;
        // A launch may still be under way, and its plans' kernels go with us.
        if (launched_ && !kept_.empty()) {
            ++counters().synchronizations;
            note(cudaStreamSynchronize(launched_));
        }
        note(cudaGraphExecDestroy(graph_));
    }
    NativeGraph(const NativeGraph&) = delete;
    NativeGraph& operator=(const NativeGraph&) = delete;

    /// Takes what a launch needs of the device's memory now, where its want can still be told.
    void upload(Stream stream) {
        launched_ = native(stream);
        check_memory(cudaGraphUpload(graph_, launched_), "cudaGraphUpload", 0);
    }
    void launch(Stream stream) override {
        launched_ = native(stream);
        check(cudaGraphLaunch(graph_, launched_), "cudaGraphLaunch");
        count_launch();
    }
    std::int64_t nodes() const override { return nodes_; }

private:
    cudaGraphExec_t graph_ = nullptr;
    std::int64_t nodes_ = 0;
    Kept kept_;
    cudaStream_t launched_ = nullptr;  // where last, or put; streams outlive what runs on them
};

}  // namespace

void begin_capture(Stream stream) {
    // Relaxed: the graph's own memory is taken from the driver while it is recorded.
    check(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeRelaxed),
          "cudaStreamBeginCapture");
    start_keeping(stream);
}

bool capturing(Stream stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(native(stream), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
}

std::unique_ptr<Graph> end_capture(Stream stream) {
    Kept kept = end_keeping(stream);
    cudaGraph_t recorded = nullptr;
    check(cudaStreamEndCapture(native(stream), &recorded), "cudaStreamEndCapture");
    struct Destroy {
        cudaGraph_t graph;
        ~Destroy() { note(cudaGraphDestroy(graph)); }
    } const destroy{recorded};
    auto graph = std::make_unique<NativeGraph>(recorded, std::move(kept));
    graph->upload(stream);
    return graph;
}

void abandon_capture(Stream stream) noexcept {
    try {
        const Kept kept = end_keeping(stream);
        cudaGraph_t recorded = nullptr;
        // Fails where the recording had failed already: the capture is over then too.
        static_cast<void>(cudaStreamEndCapture(native(stream), &recorded));
        if (recorded) note(cudaGraphDestroy(recorded));
        static_cast<void>(cudaGetLastError());
    } catch (...) {  // the device is lost, and its capture with it
    }
}

}  // namespace kernels::cuda
