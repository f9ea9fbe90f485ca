#include "cuda/check.h"
#include "cuda/state.h"
#include "kernels/refusal.h"

namespace kernels::cuda {
namespace {

__device__ RefusalNote word;  // each device has its own

}  // namespace

RefusalNote* refusal_word() {
    use_device();
    void* address = nullptr;
    check(cudaGetSymbolAddress(&address, word), "cudaGetSymbolAddress");
    return static_cast<RefusalNote*>(address);
}

}  // namespace kernels::cuda
