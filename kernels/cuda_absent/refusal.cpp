#include "kernels/refusal.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

RefusalNote* refusal_word() { absent("refusal_word"); }

void check_whole(const RefusalPlace&, ConstArray, const WholeRange&, Stream) {
    absent("check_whole");
}

void check_numbers(const RefusalPlace&, ConstArray, double, double, Stream) {
    absent("check_numbers");
}

void take_refusal(RefusalNote*, RefusalNote*, Stream) { absent("take_refusal"); }

}  // namespace kernels::cuda
