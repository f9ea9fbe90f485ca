#include "kernels/fake_cuda_runtime.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "cuda/code_probe.h"
#include "cuda/copy_small.h"

namespace kernels::test {
namespace {

/// The configured answer to this call. Records the call.
cudaError_t answer(const char* call) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    FakeCudaRuntime& fake = fake_cuda();
    fake.calls.emplace_back(call);
    const auto found = fake.answers.find(call);
    if (found == fake.answers.end()) return cudaSuccess;
    const cudaError_t status = found->second;
    fake.answers.erase(found);
    return status;
}

/// An arbitrary address for a handle, which is never dereferenced.
template <typename Handle>
Handle made() {
    static char places[64];
    static std::size_t next = 0;
    return reinterpret_cast<Handle>(&places[next++ % sizeof places]);
}

}  // namespace

FakeCudaRuntime& fake_cuda() {
    static FakeCudaRuntime only;
    return only;
}

}  // namespace kernels::test

namespace kernels::cuda {

std::vector<int> compiled_architectures() { return test::fake_cuda().architectures; }
const void* code_probe() { return &test::fake_cuda(); }

}  // namespace kernels::cuda

using kernels::test::answer;
using kernels::test::fake_cuda;
using kernels::test::made;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 2;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    *properties = {};
    std::strcpy(properties->name, "Card");
    properties->major = fake_cuda().major;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? fake_cuda().major : 1;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    fake_cuda().contexts.insert(device);
    return answer("cudaSetDevice");
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) {
    return answer("cudaFuncGetAttributes");
}
cudaError_t cudaDeviceReset() { return answer("cudaDeviceReset"); }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorMemoryAllocation ? "out of memory" : "some error";
}

cudaError_t cudaMalloc(void** data, std::size_t) {
    *data = made<void*>();
    return answer("cudaMalloc");
}
cudaError_t cudaFree(void*) { return answer("cudaFree"); }
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
    *data = std::malloc(bytes);
    return answer("cudaHostAlloc");
}
cudaError_t cudaFreeHost(void* data) {
    std::free(data);
    return answer("cudaFreeHost");
}
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
    return answer("cudaMemcpyAsync");
}
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, cudaStream_t) {
    return answer("cudaMemcpyPeerAsync");
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) {
    return answer("cudaMemsetAsync");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = made<cudaStream_t>();
    return answer("cudaStreamCreateWithFlags");
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return answer("cudaStreamSynchronize"); }
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
    return answer("cudaLaunchKernel");
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
    fake_cuda().attributes.assign(config->attrs, config->attrs + config->numAttrs);
    return answer("cudaLaunchKernelExC");
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = made<cudaEvent_t>();
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return answer("cudaEventRecord"); }
cudaError_t cudaEventQuery(cudaEvent_t) { return answer("cudaEventQuery"); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return answer("cudaEventSynchronize"); }
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    return answer("cudaStreamBeginCapture");
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
    ++fake_cuda().graphs;
    *graph = made<cudaGraph_t>();
    return answer("cudaStreamEndCapture");
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
    --fake_cuda().graphs;
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, std::size_t* count) {
    *count = 3;
    return answer("cudaGraphGetNodes");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph, cudaGraph_t, unsigned long long) {
    const cudaError_t status = answer("cudaGraphInstantiate");
    if (status != cudaSuccess) return status;
    ++fake_cuda().executables;
    *graph = made<cudaGraphExec_t>();
    return status;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return answer("cudaGraphUpload"); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return answer("cudaGraphLaunch"); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
    --fake_cuda().executables;
    return cudaSuccess;
}

}  // extern "C"

// The kernel itself is not part of the test.
void kernels::cuda::copy_small(void*, const void*, std::size_t, Stream) {
    (void)answer("cudaLaunchKernel");
}
