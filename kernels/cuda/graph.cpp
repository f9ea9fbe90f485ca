#include "kernels/cuda_graph.h"

#include <memory>
#include <utility>

#include "cuda/check.h"
#include "cuda/native.h"
#include "cuda/recording.h"
#include "kernels/cuda_device.h"

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
        if (!kept_.empty()) wait_for_launches();
        note(cudaGraphExecDestroy(graph_));
    }
    NativeGraph(const NativeGraph&) = delete;
    NativeGraph& operator=(const NativeGraph&) = delete;

    /// Allocates the device memory of a launch now, where a failure can still be reported.
    void upload(Stream stream) {
        check_memory(cudaGraphUpload(graph_, native(stream)), "cudaGraphUpload", 0);
    }
    void launch(Stream stream, std::shared_ptr<Event> mark) override {
        check(cudaGraphLaunch(graph_, native(stream)), "cudaGraphLaunch");
        count_launch();
        if (!mark && !kept_.empty()) mark = own_;
        if (!mark) return;
        mark->record(stream);
        launched_ = std::move(mark);
    }
    std::int64_t nodes() const override { return nodes_; }

private:
    /// One may still be under way, and its plans' kernels and scratch go with us. Its mark is
    /// waited for and not the stream: another thread may be recording there, which a wait would
    /// spoil.
    void wait_for_launches() noexcept {
        try {
            if (!launched_->passed()) launched_->synchronize();
        } catch (...) {  // the device has failed, and runs nothing
        }
    }

    cudaGraphExec_t graph_ = nullptr;
    std::int64_t nodes_ = 0;
    Kept kept_;
    std::shared_ptr<Event> own_ = std::make_shared<Event>();  // of launches without a mark
    // The mark of the last launch. Its owner may record it again, on the same stream: then it is
    // passed later.
    std::shared_ptr<Event> launched_ = own_;
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
