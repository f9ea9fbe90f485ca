#include "kernels/index.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void index_select(Array, ConstArray, ConstArray, const IndexSpan&, Stream) {
    absent("index_select");
}

void gather(Array, ConstArray, ConstArray, const IndexSpan&, Stream) { absent("gather"); }

void index_reduce(Array, ConstArray, ConstArray, ConstArray, const IndexSpan&, IndexFold, bool,
                  Stream) {
    absent("index_reduce");
}

void scatter_reduce(Array, ConstArray, ConstArray, ConstArray, const IndexSpan&, IndexFold, bool,
                    Stream) {
    absent("scatter_reduce");
}

}  // namespace kernels::cuda
