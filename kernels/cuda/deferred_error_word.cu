#include "cuda/check.h"
#include "cuda/state.h"
#include "kernels/deferred_error.h"

namespace kernels::cuda {
namespace {

__device__ DeferredError word;  // each device has its own

}  // namespace

DeferredError* deferred_error_word() {
    use_device();
    void* address = nullptr;
    check(cudaGetSymbolAddress(&address, word), "cudaGetSymbolAddress");
    return static_cast<DeferredError*>(address);
}

}  // namespace kernels::cuda
